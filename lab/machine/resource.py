"""What a resource of a machine is, whatever its type."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.machine.session import Session


@dataclass(frozen=True)
class Item:
    """One resource: its id and its content, for programs and for people (YAML; JSON is YAML)."""

    id: str
    proto: bytes
    yaml: str


@dataclass(frozen=True)
class Kind:
    """One type of resource; a sensitive one is for administrators. ``since``: the minor version that has it first."""

    type: str
    namespace: str
    aliases: tuple[str, ...]
    items: "Callable[[Session], Iterator[Item]]"
    sensitive: bool = False
    since: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Every short name it is found by."""
        plural = self.type.partition(".")[0].lower()
        return (plural, singular(plural))


def singular(plural: str) -> str:
    """The name of one of several."""
    if plural.endswith("ies"):
        return plural.removesuffix("ies") + "y"
    return plural.removesuffix("es") if plural.endswith("ses") else plural.removesuffix("s")


class Versions:
    """The versions of the resources of one session: each counts up when its content changes."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._seen: dict[str, tuple[bytes, int]] = {}

    def of(self, key: str, content: bytes) -> int:
        """The version of a resource with this content, from 1 on."""
        before, version = self._seen.get(key, (b"", 0))
        if before != content or not version:
            self._seen[key] = (content, version + 1)
        return self._seen[key][1]
