"""Texts are quoted where Talos's own writer quotes them, so that what is written here is what Talos writes."""

import pytest

from machinery.emit import scalar


@pytest.mark.parametrize(
    "value",
    [
        *("2379-2380", "::1", "fe80::1/64", "2024-13-02", "0b12", "0xzz", "08x", "1e400", "tRue", "nan", "_1"),
        *("a,b", "a]", "$x", "?a", ":a", "-a", "a{b}", "a'b", 'a"b', "1.5.6", "10:61", "é", "日本"),
        "0xffffffffffffffffffff",
        "99999:99a",
    ],
)
def test_these_stand_without_quotes(value: str) -> None:
    assert scalar(value, "    ") == value


@pytest.mark.parametrize(
    "value",
    [
        *("0000:18:00.0", "12:30:45", "2024-01-02", "2024-1-2", "2024-01-02T03:04:05Z", "08", "0o17", "0x1f", "1_000"),
        *("99999999999999999999", "1e3", ".5", "+.inf", ".NaN", "yes", "Off", "n", "null", "~", "", "<<", "true"),
    ],
)
def test_these_stand_in_double_quotes_since_a_reader_would_take_them_for_something_else(value: str) -> None:
    assert scalar(value, "    ") == f'"{value}"'


@pytest.mark.parametrize(
    "value", ["- a", "#a", "a #b", "a: b", "a:", "!a", "{a}", "[a]", "*a", "|", "%a", "@a", " a", "---"]
)
def test_these_stand_in_single_quotes_since_they_hold_signs_of_yaml(value: str) -> None:
    assert scalar(value, "    ") == f"'{value}'"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\nb", "|-\n    a\n    b"),
        ("a\n\nb\n", "|\n    a\n\n    b"),
        ("a\n\n", "|+\n    a\n"),
        ("a \nb", '"a \\nb"'),
        ("\n", '"\\n"'),
        ("a\tb", '"a\\tb"'),
        ("\x7f\x85\U0001f600\r", '"\\x7F\\N\\U0001F600\\r"'),
    ],
)
def test_texts_of_several_lines_are_blocks_where_they_can_be(value: str, written: str) -> None:
    assert scalar(value, "    ") == written
