"""What is wrong with the indentation of a text that is not YAML, which the parser says in words about its own work."""

_TAB = "it is indented with a tab, and YAML takes spaces only"
_MISFIT = "its indentation does not fit the line above"


def indentation_fault(text: str, line: int | None) -> str | None:
    """What is wrong with the indentation of a line, counted from 1; None where something else is."""
    rows = text.split("\n")
    if line is None or line > len(rows):
        return None
    row = rows[line - 1]
    if "\t" in row[: len(row) - len(row.lstrip())]:
        return _TAB
    return None if _fits(row, [each for each in rows[: line - 1] if _says_something(each)]) else _MISFIT


def _fits(row: str, above: list[str]) -> bool:
    """Whether a row stands below a key that is open, or beside something in one of the levels that are."""
    here = _indent(row)
    if not row.strip() or not above or here == _indent(above[-1]):
        return True
    if here > max(_levels(above[-1])):
        return above[-1].rstrip().endswith((":", "-", "|", ">", ",", "{", "["))
    lowest = here + 1
    for each in reversed(above):  # up to the level that the row may stand in
        if here in _levels(each) and _indent(each) < lowest:
            return True
        if _indent(each) < here:
            return False
    return False


def _levels(row: str) -> set[int]:
    """Where something may stand beside what is in a row: an entry of a list is in two levels, or more."""
    levels = {_indent(row)}
    rest = row.lstrip()
    while rest.startswith("- "):
        rest = rest[1:].lstrip()
        levels.add(len(row) - len(rest))
    return levels


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def _says_something(row: str) -> bool:
    return bool(row.strip()) and not row.lstrip().startswith("#")
