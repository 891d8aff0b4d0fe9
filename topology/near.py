"""What a name may have been meant to be, where it is none that is known."""

import difflib
from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> list[str]:
    """Return the one of ``known`` that ``name`` may have been meant to be, in a list that may be empty."""
    return difflib.get_close_matches(name[:100], tuple(known), n=1, cutoff=0.6)


def near(name: str, known: Iterable[str]) -> str:
    """Say what ``name`` could have been meant to be: `` (is it worker?)``, or nothing where nothing is like it."""
    close = closest(name, known)
    return f" (is it {' or '.join(close)}?)" if close else ""
