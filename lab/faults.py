"""Faults that can be switched on for one machine while the lab runs."""

import math
from collections.abc import Callable, Mapping

Value = float | bool

# What each fault takes, with its default. Seconds are simulated seconds.
KINDS: Mapping[str, Mapping[str, Value]] = {
    "refuse": {},  # the machine API takes no connection
    "drop": {"every": 3, "answer": False},  # every nth call loses its connection; answer: after it was carried out
    "delay": {"seconds": 5.0},  # every call waits before it is carried out
    "reboot-late": {"seconds": 120.0},  # the next boots take longer
    "never-back": {},  # the next reboot does not come back
    "full-disk": {},  # nothing can be written to the system disk
    "clock-skew": {"seconds": 3600.0},  # its clock is ahead (or behind, negative) and not synchronised
}


class FaultError(ValueError):
    """A fault that does not exist or does not take these arguments."""


class Faults:
    """Which faults are on, per machine name. Owns the count of calls behind ``drop``."""

    def __init__(self) -> None:
        """Begin without a fault."""
        self._on: dict[str, dict[str, dict[str, Value]]] = {}
        self._calls: dict[str, int] = {}
        self._watchers: list[Callable[[str, str, bool], None]] = []

    def watch(self, watcher: Callable[[str, str, bool], None]) -> None:
        """Call ``watcher(machine, fault, on)`` after every switch."""
        self._watchers.append(watcher)

    def set(self, machine: str, name: str, **args: Value) -> None:
        """Switch ``name`` on for ``machine``; raises FaultError on an unknown fault or argument."""
        if name not in KINDS:
            raise FaultError(f"no fault is called {name!r}; there are {', '.join(sorted(KINDS))}")
        known = KINDS[name]
        for key, value in args.items():
            if key not in known:
                takes = ", ".join(sorted(known)) or "no argument"
                raise FaultError(f"fault {name!r} does not take {key!r}; it takes {takes}")
            if not isinstance(value, int | float) or not math.isfinite(value):
                raise FaultError(f"fault {name!r} needs a number for {key!r}, not {value!r}")
        if name != "clock-skew" and any(value < 0 for value in args.values()):
            raise FaultError(f"fault {name!r} takes no number below 0")
        if name == "drop" and args.get("every", 3) < 1:
            raise FaultError("fault 'drop' needs every=1 or more")
        self._on.setdefault(machine, {})[name] = {**known, **args}
        if name == "drop":
            self._calls[machine] = 0
        self._tell(machine, name, True)

    def clear(self, machine: str, name: str | None = None) -> None:
        """Switch ``name`` off for ``machine``, or all of its faults; clearing what is off is fine."""
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

    def active(self, machine: str) -> dict[str, dict[str, Value]]:
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
