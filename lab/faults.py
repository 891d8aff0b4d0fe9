"""Faults that can be switched on for one machine while the lab runs."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """One number that a fault takes."""

    default: float
    means: str
    """What it may be, as a sentence goes on after "must be"."""
    fits: Callable[[float], bool]


EVERY = Parameter(3, "a whole number, 1 or more: every so many calls one is lost", lambda n: n >= 1 and n == int(n))
ANSWER = Parameter(0, "0, to lose a call before it is carried out, or 1, to lose the answer", lambda n: n in (0, 1))
NEVER_BELOW_0 = "a number of simulated seconds, 0 or more"
SKEW = Parameter(3600, "a number of seconds, below 0 where the clock is behind", lambda _: True)
EXIT = Parameter(7, "the installer's exit code, a whole number from 1 to 255", lambda n: n in range(1, 256))
STAGE = Parameter(
    8, "1 (booting), 2 (installing), 5 (rebooting), 7 (resetting) or 8 (upgrading)", lambda n: n in (1, 2, 5, 7, 8)
)

KINDS: Mapping[str, Mapping[str, Parameter]] = {
    "refuse": {},  # the machine API takes no connection
    "drop": {"every": EVERY, "answer": ANSWER},  # calls lose their connection
    "delay": {"seconds": Parameter(5, NEVER_BELOW_0, lambda n: n >= 0)},  # every call waits before it is carried out
    "reboot-late": {"seconds": Parameter(120, NEVER_BELOW_0, lambda n: n >= 0)},  # the next boots take longer
    "never-back": {},  # the next reboot does not come back
    "full-disk": {},  # nothing can be written to the system disk
    "clock-skew": {"seconds": SKEW},  # its clock is ahead and not synchronised
    "image-missing": {},  # no image can be pulled
    "installer-fails": {"exit": EXIT},  # an installer stops before it has changed anything
    "rolls-back": {},  # a version that was just installed does not boot, and the one before comes back
    "hangs": {"stage": STAGE},  # it comes to this stage and no further
    "etcd-lost": {},  # the next boots find no data of etcd
}


class FaultError(ValueError):
    """A fault that does not exist or does not take these arguments."""


class Faults:
    """Which faults are on, per machine name. Owns the count of calls behind ``drop``."""

    def __init__(self) -> None:
        """Begin without a fault."""
        self._on: dict[str, dict[str, dict[str, float]]] = {}
        self._calls: dict[str, int] = {}
        self._watchers: list[Callable[[str, str, bool], None]] = []

    def watch(self, watcher: Callable[[str, str, bool], None]) -> None:
        """Call ``watcher(machine, fault, on)`` after every switch."""
        self._watchers.append(watcher)

    def set(self, machine: str, name: str, /, **args: float) -> None:
        """Switch ``name`` on for ``machine``; raises FaultError for an unknown one, with all it does not take."""
        known = _parameters(name)
        if wrong := [_wrong(name, key, value) for key, value in args.items() if not _fits(known.get(key), value)]:
            raise FaultError("; ".join(wrong))
        self._on.setdefault(machine, {})[name] = {key: each.default for key, each in known.items()} | args
        if name == "drop":
            self._calls[machine] = 0
        self._tell(machine, name, True)

    def clear(self, machine: str, name: str | None = None) -> None:
        """Switch ``name`` off for ``machine``, or all of its faults; raises FaultError for an unknown one."""
        if name is not None:
            _parameters(name)
        for fault in list(self._on.get(machine, {})):
            if name in (None, fault):
                del self._on[machine][fault]
                self._tell(machine, fault, False)

    def on(self, machine: str, name: str) -> bool:
        """Whether the fault is on."""
        return name in self._on.get(machine, {})

    def value(self, machine: str, name: str, argument: str) -> float:
        """One argument of a fault, 0 when the fault is off."""
        return float(self._on.get(machine, {}).get(name, {}).get(argument, 0))

    def active(self, machine: str) -> dict[str, dict[str, float]]:
        """The faults of one machine, for showing."""
        return {name: dict(args) for name, args in self._on.get(machine, {}).items()}

    def drops(self, machine: str) -> bool:
        """Count one call; true when it is the one to lose."""
        if not self.on(machine, "drop"):
            return False
        self._calls[machine] = self._calls.get(machine, 0) + 1
        return self._calls[machine] % int(self.value(machine, "drop", "every")) == 0

    def _tell(self, machine: str, name: str, on: bool) -> None:
        for watcher in self._watchers:
            watcher(machine, name, on)


def _parameters(name: str) -> Mapping[str, Parameter]:
    if name not in KINDS:
        raise FaultError(f"there is no fault {name!r}; the faults are {', '.join(sorted(KINDS))}")
    return KINDS[name]


def _fits(parameter: Parameter | None, value: float) -> bool:
    return parameter is not None and isinstance(value, int | float) and math.isfinite(value) and parameter.fits(value)


def _wrong(name: str, key: str, value: object) -> str:
    known = KINDS[name]
    if key not in known:
        return f"{name} does not take {key!r}; it takes {' and '.join(known) or 'no argument'}"
    shown = f"{value:g}" if isinstance(value, int | float) else repr(value)
    return f"{key} of {name} is {shown}; it must be {known[key].means}"
