"""What a command says when it cannot do its work: one sentence, or one line for each fault."""


class CliError(Exception):
    """An error that the user can do something about; the text is all that is shown."""
