"""What a template may cost: steps, characters and digits, counted while it runs, so that every one comes to an end."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from jinja2 import TemplateError
from jinja2.runtime import Context, Undefined

from machineconfig.placeholder import holds_placeholder

LARGEST = 4 * 2**20
"""Characters of a rendered file: more than any machine takes as its whole configuration."""
LONGEST = 128 * 2**10
"""Characters of a template; compiling one takes longer than reading a file of its size."""
STEPS = 1_000_000
"""Parts of a template that one rendering may evaluate: under a second."""
_BITS = 10_000
"""Bits of a whole number."""
_STRIDE = 64
"""Characters that cost as much as a step."""
_AS_IT_IS = "write it as it is, with | flow or beside other text with ~, and store it in the form that is needed"
_NESTED = (list, tuple, set, frozenset)


class RefusedError(TemplateError):
    """A value that a patch cannot hold, or a file that it cannot include.

    `always`: it is so whatever the values, so that nobody need try it again for another node.
    """

    def __init__(self, message: str, cure: str, *, always: bool = False) -> None:
        """`message` follows what is between the braces."""
        super().__init__(message)
        self.cure, self.always = cure, always


class Bounded(Context):
    """The context of one rendering, with the steps that are left."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Start with all of them."""
        super().__init__(*arguments, **named)
        self._left = STEPS
        self.holds_secrets = False
        """Whether it has asked for any."""

    def spend(self, *values: object, steps: int = 0, reads: bool = True) -> None:
        """Take steps, and as many as it takes to look at some values all the way down. Raises RefusedError.

        `reads`: what follows depends on what is in the values, and so it is refused if one holds a secret.
        """
        self._left -= steps
        waiting = list(values)
        while waiting and self._left >= len(waiting):
            value = waiting.pop()
            self._left -= 1
            if isinstance(value, str):
                self._left -= len(value) // _STRIDE
                if self.holds_secrets and reads and holds_placeholder(value):
                    raise looks_into_a_secret()
            elif isinstance(value, range):
                self._left -= len(value)
            elif isinstance(value, Mapping):
                waiting += [*value.keys(), *value.values()]
            elif isinstance(value, _NESTED):
                waiting += value
        if waiting or self._left < 0:
            raise _too_long()

    def each(self, value: Any, weight: int = 1) -> Any:
        """The items that a loop runs over, its body as many parts long as `weight`; what has no order is sorted."""
        if isinstance(value, Undefined):
            return value  # raises as soon as it is looked at, and then knows its name
        if isinstance(value, str):
            self.spend(value)
        weight = max(weight, 1)
        items = list(islice(in_order(value), self._left // weight + 1))
        self.spend(steps=1 + len(items) * weight)
        return items


def in_order(value: Any) -> Iterator[Any]:
    """The items of a value, the same in every run."""
    return iter(sorted(value, key=str) if isinstance(value, set | frozenset) else value)


def joined(pieces: Iterable[str]) -> str:
    """Join the pieces of a rendering while they are few enough."""
    found: list[str] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > LARGEST:
            raise too_large()
        found.append(piece)
    return "".join(found)


def check_sum(operator: str, left: Any, right: Any) -> None:
    """Refuse a sum whose result would be larger than anything that is meant."""
    if operator == "%" and isinstance(left, str):
        raise RefusedError("formats a text", "write its parts one after the other, with ~ between them")
    if _is_too_large(operator, left, right):
        raise too_large()


def too_large() -> RefusedError:
    """The refusal of what would become too large."""
    return RefusedError(f"makes more than the {LARGEST} characters that a patch may have", "make it smaller")


def looks_into_a_secret() -> RefusedError:
    """The refusal of what depends on what is in a secret."""
    return RefusedError("looks into the value of a secret or changes it", _AS_IT_IS)


def _too_long() -> RefusedError:
    cure = "make its loops and texts shorter; what takes much working out becomes a property in context.py"
    return RefusedError(f"takes more than the {STEPS} steps that a patch may have", cure, always=True)


def _is_too_large(operator: str, left: Any, right: Any) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * max(right, 0) if operator == "**" else left.bit_length() + right.bit_length()
        return operator in ("*", "**") and bits > _BITS
    if operator != "*":
        return False
    text, times = (left, right) if isinstance(right, int) else (right, left)
    return isinstance(text, str | list | tuple) and isinstance(times, int) and len(text) * times > LARGEST
