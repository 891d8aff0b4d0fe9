"""How text becomes values, and values text."""

from typing import Any

import pytest
import yaml as pyyaml

from machinery import ConfigError, parse_configuration
from machinery.emit import Verbatim, dump
from machinery.yaml import load


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("yes", "yes"),
        ("true", True),
        ("~", None),
        ("0o644", 420),
        ("0644", 420),
        ("0x1f", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("-5", -5),
        ("09", 9.0),
        ("1.50", 1.5),
        (".5", 0.5),
        ("1.2.3", "1.2.3"),
        ("10:30", "10:30"),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("!!int '5'", 5),
        ("!!float 5", 5.0),
    ],
)
def test_a_plain_scalar_means_what_talos_makes_of_it(text: str, value: Any) -> None:
    assert load(f"a: {text}") == [{"a": value}]


# As the provider's plugin writes them where anything may stand.
DATES = {
    "2024-01-01": "2024-01-01T00:00:00Z",
    "2024-1-2": "2024-01-02T00:00:00Z",
    "0000-02-29": "0000-02-29T00:00:00Z",
    "2024-01-01t10:00:00Z": "2024-01-01T10:00:00Z",
    "2024-01-01T1:2:3Z": "2024-01-01T01:02:03Z",
    "2024-01-01  1:2:3.50": "2024-01-01T01:02:03.5Z",
    "2024-01-01T10:00:00,123456789123Z": "2024-01-01T10:00:00.123456789Z",
    "2024-01-01T10:00:00+02:00": "2024-01-01T10:00:00+02:00",
    "2024-01-01T10:00:00-00:00": "2024-01-01T10:00:00Z",
    '!!timestamp "2024-01-01"': "2024-01-01T00:00:00Z",
    '"2024-01-01"': '"2024-01-01"',
    "!!str 2024-01-01": '"2024-01-01"',
}
TEXTS = ["2024-13-01", "2024-02-30", "2024-01-0", "2024-001-1", "20240-01-01", "2024-01-01 10:00:00Z"]
TEXTS += ["2024-01-01T10:00:00", "2024-01-01T24:00:00Z", "2024-01-01T10:00:60Z", "2024-01-01T10:00:00+0200"]


@pytest.mark.parametrize(("text", "written"), [*DATES.items(), *zip(TEXTS, TEXTS, strict=True)])
def test_a_date_gets_a_time_of_day_where_it_is_one(text: str, written: str) -> None:
    (read,) = load(f"a: {text}")
    assert dump([read]) == f"a: {written}\n"
    assert load(dump([read])) == [read]


# As the provider's plugin writes them where anything may stand.
NUMBERS = {
    "1.0": "1",
    "1e3": "1000",
    "1e6": "1e+06",
    "08": "8",
    "-0": "-0",
    ".5": "0.5",
    "0.0001": "0.0001",
    "0.00001": "1e-05",
    "123456789.123": "1.23456789123e+08",
    "18446744073709551615": "18446744073709551615",
    "18446744073709551616": "1.8446744073709552e+19",
    "1e400": "1e400",
    "!custom 1": '"1"',
    "!!binary aGk=": "hi",
    '!!binary "/w=="': "!!binary /w==",
}


@pytest.mark.parametrize(("text", "written"), NUMBERS.items())
def test_a_number_is_written_as_go_writes_it(text: str, written: str) -> None:
    assert dump(load(f"a: {text}")) == f"a: {written}\n"


def test_a_key_that_is_no_text_is_written_as_what_it_is() -> None:
    text = "{2024-01-01: a, 08: b, true: c, ~: d, 1: e, 1.5: g}\n"
    assert dump(load(text)) == "2024-01-01T00:00:00Z: a\n8: b\ntrue: c\nnull: d\n1: e\n1.5: g\n"


def test_plain_text_in_flow_style_may_begin_or_end_with_a_colon() -> None:
    assert load("a: [::1, fd00::/8]\nb: {1:, 2: 3}\n") == [
        {"a": ["::1", "fd00::/8"], "b": {"1:": None, Verbatim("2"): 3}}
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", 'line 2: the key "a" already stands at line 1'),
        ("a:\n\tb: 1\n", "line 2: found character that cannot start any token"),
        ("a: [\n", "not YAML"),
        ("a: *b\n", "undefined alias"),
        ("? [a]\n: b\n", "a key must be one value"),
        ("a: !!int b\n", "does not fit its tag !!int"),
        ("a: !!binary b\n", "does not fit its tag !!binary"),
        ("a: [!!str, b]\n", r"line 1: a space is missing after the tag"),
        ('a: "\\/"\n', r"line 1: found unknown escape character"),
        ("%YAML 1.2\n---\na: b\n", "line 1: the directive %YAML must say 1.1"),
        ("a: \x07\n", "not YAML"),
    ],
)
def test_text_that_talos_refuses_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(text)


def test_aliases_and_merge_keys_are_followed() -> None:
    assert load("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n") == [{"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}]


WORDS = """
off Yes null ~ 1.10 0o644 1e3 -x #a ' " it's é {a} [a &a *a !a | > %a @a `a a: :a ? --- ... << = a,b
2024-01-01 0x1f .inf 🙂 12:30:45 +1 1_000 \ufeffa key:|
"""
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcde", "bcdef", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &a [*a]\n", "nested too deeply"),
        (BOMB, "its aliases repeat too much"),
        ("[" * 200 + "]" * 200, "nested too deeply"),
        ("[" * 50000, "not YAML"),
        ("a: \ud800\n", "not YAML"),
    ],
)
def test_text_that_would_never_end_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(text)


AWKWARD = [
    *WORDS.split(),
    *("", " ", "- x", "a: b", "a #b", "\u2028", "\x00", "a\nb", "a\nb\n", "a\n\n", "\n", " a\n", "a \nb", "a\tb"),
    *("\ta\n", "a" * 300, "key: |\n  text\n"),
]


@pytest.mark.parametrize("value", AWKWARD)
def test_text_comes_back_as_it_was_in_every_reader(value: str) -> None:
    document = {"a": {value or "k": [value, {"b": value}], "c": value}, "d": value}
    text = dump([document])
    assert load(text) == [document]
    assert pyyaml.safe_load(text) == document


def test_numbers_and_empty_values_come_back() -> None:
    document: dict[str, Any] = {
        "a": 1,
        "b": 1.5,
        "c": None,
        "d": True,
        "e": {},
        "f": [],
        "g": [{}, [], [1, [2]], {"x": {"y": [1]}}],
    }
    assert load(dump([document, document])) == [document, document]
    assert dump([{"mode": Verbatim("0o644")}]) == "mode: 0o644\n"


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "---\n", "a", "[]", "- a\n", "{}", "\x00", "machine: [", "kind: 5\n", "? x"]
)
def test_text_that_is_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_configuration(text)
