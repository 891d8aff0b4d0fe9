"""What the lab says when it cannot do its work."""


class LabError(Exception):
    """Something the lab cannot do; the text says what to do instead."""
