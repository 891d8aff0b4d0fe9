"""What machinery raises for every fault in a patch, a machine configuration or a secrets file."""

from machinery.problems import Problem


class ConfigError(Exception):
    """A configuration that Talos would refuse, with every problem found; `str()` joins them with `; `.

    A problem names the path and the line, never a secret.
    """

    def __init__(self, *problems: Problem | str) -> None:
        """Take problems, each as it is or its message alone."""
        self.problems = tuple(each if isinstance(each, Problem) else Problem(each) for each in problems)
        super().__init__("; ".join(map(str, self.problems)))

    def under(self, context: str, document: str = "") -> "ConfigError":
        """Return the same problems in a context, and about the document of a title where one is given."""
        return ConfigError(*(problem.under(context, document) for problem in self.problems))


class NotYamlError(ConfigError):
    """A text that is not YAML. Its one problem is in the parser's words, which can quote the text."""

    def __init__(self, words: str, line: int | None) -> None:
        """Take what the parser says of a line."""
        super().__init__(Problem(words, line=line, context=("this is not YAML",)))
