"""Which versions go together: Talos's own table of supported releases, and what the pinned Talos provider knows."""

from dataclasses import dataclass

from versioning import Contract


@dataclass(frozen=True)
class Support:
    """What one Talos minor version takes."""

    kubernetes_from: Contract
    kubernetes_to: Contract
    upgrade_from: Contract
    """The oldest Talos minor version that can be upgraded to this one in a step."""


def _v1(minor: int) -> Contract:
    return Contract(1, minor)


# Source: the package compatibility of Talos's machinery.
SUPPORT: dict[Contract, Support] = {
    _v1(10): Support(_v1(28), _v1(33), _v1(8)),
    _v1(11): Support(_v1(29), _v1(34), _v1(9)),
    _v1(12): Support(_v1(30), _v1(35), _v1(10)),
    _v1(13): Support(_v1(31), _v1(36), _v1(11)),
    _v1(14): Support(_v1(32), _v1(37), _v1(12)),
}
OLDEST_TALOS = min(SUPPORT)
NEWEST_TALOS = max(SUPPORT)

OLDEST_CONTRACT = _v1(0)
# The machinery inside the Talos provider that requirements.txt pins: no contract after it can be rendered.
NEWEST_CONTRACT = _v1(13)
