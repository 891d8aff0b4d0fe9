"""What machinery raises for every fault in a patch, a machine configuration or a secrets file."""

from collections.abc import Iterable


class ConfigError(Exception):
    """A configuration that Talos would refuse, with every problem found.

    `problems` holds one sentence each; `str()` joins them with `; `. A problem names the path and the line, never a
    secret.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        """Take one problem or several."""
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("; ".join(self.problems))

    def under(self, prefix: str) -> "ConfigError":
        """Return the same problems, each behind `prefix`."""
        return ConfigError(f"{prefix}: {problem}" for problem in self.problems)
