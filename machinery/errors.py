"""What machinery raises for every fault in a patch, a machine configuration or a secrets file."""

from collections.abc import Iterable

from machinery.problems import Problem


class ConfigError(Exception):
    """A configuration that Talos would refuse, with every problem found.

    `problems` holds one sentence each with its place; `str()` joins them with `; `. A problem names the path and the
    line, never a secret.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        """Take one problem or several."""
        all_of_them = (problems,) if isinstance(problems, str) else problems
        self.problems = tuple(each if isinstance(each, Problem) else Problem(each) for each in all_of_them)
        super().__init__("; ".join(self.problems))

    def under(self, prefix: str, document: str = "") -> "ConfigError":
        """Return the same problems, each behind `prefix`, and about the document of a title where one is given."""
        return ConfigError(problem.under(prefix, document) for problem in self.problems)
