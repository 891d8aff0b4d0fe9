"""What the provider says no to."""


class Refused(Exception):  # noqa: N818 - an answer, not a fault of the provider
    """What cannot be done: the text is for people, without a secret in it."""
