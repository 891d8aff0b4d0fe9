"""What the provider remembers of a machine on the machine's Node: docs/adr/0030."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum

ANNOTATION = "talos-stacks.dev/release"
CORDON = "talos-stacks.dev/cordoned"


class Phase(Enum):
    """How far an installation came."""

    INSTALLING = "installing"
    """The installer was asked; whether it ended well is not known."""
    INSTALLED = "installed"
    """The installer ended well; the reboot was not seen."""
    UPGRADING = "upgrading"
    """The older call was made, which installs and reboots."""


@dataclass(frozen=True)
class Marker:
    """An installation of an image, begun under the boot of that id."""

    phase: Phase
    boot: str
    image: str

    @property
    def text(self) -> str:
        """What is written."""
        return json.dumps(asdict(self) | {"phase": self.phase.value}, sort_keys=True)


def marker_in(annotations: Mapping[str, str]) -> Marker | None:
    """Read the marker of a Node; None without one, and for what is not ours."""
    try:
        found = json.loads(annotations[ANNOTATION])
        return Marker(Phase(found["phase"]), str(found["boot"]), str(found["image"]))
    except (LookupError, ValueError, TypeError):
        return None
