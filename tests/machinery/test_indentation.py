"""What the parser says in its own words is told as what it is: a tab, or a line that fits nowhere."""

import pytest

from machinery.indentation import indentation_fault

MISFIT = "its indentation does not fit the line above"


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("a:\n\tb: 1\n", 2, "it is indented with a tab, and YAML takes spaces only"),
        ("a:\n  b: 1\n   c: 2\n", 3, MISFIT),
        ("a:\n    b: 1\n  c: 2\n", 3, MISFIT),
        ("a:\n  - b: 1\n   c: 2\n", 3, MISFIT),
        ("a:\n  - b: 1\n    c: ]\n", 3, None),
        ("a:\n  - b: 1\n  - c: ]\n", 3, None),
        ("a:\n  b: |\n    x\n   y\n  c: ]\n", 5, None),
        ("a:\n  b: 1\nc: ]\n", 3, None),
        ("a: [1,\n      ]]\n", 2, None),
        ("a: 1\n  # a comment\nb: ]\n", 3, None),
        ("]\n", 1, None),
        ("a: [\n", 7, None),
        ("a: [\n", None, None),
    ],
)
def test_what_is_wrong_with_an_indentation(text: str, line: int | None, fault: str | None) -> None:
    assert indentation_fault(text, line) == fault
