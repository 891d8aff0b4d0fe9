"""What is written stays what it is, from the patch to the text that a machine gets: YAML 1.2, nothing of YAML 1.1."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from machineconfig import Patch
from machineconfig.generation import arguments
from machineconfig.placeholder import placeholder_bundle
from machinery import generate_configuration, parse_configuration
from tests.machineconfig.stacks import rendered, stack

TOPOLOGY = stack()
PATCHES = rendered(TOPOLOGY, "w1")
# What a reader of YAML 1.1 takes for numbers in base 60, booleans, octal numbers and dates.
WORDS = ["52:54:00:12:34:56", "12:34:56", "off", "on", "yes", "No", "y", "010", "0o10", "1_000", "2024-01-01", "1.10"]
WORDS += ["0x1f", "1e3", "+5", ".5", "=", "<<", "2024-01-01T00:00:00Z", "0b1", "true", "1.0", "190:20:30"]


def configuration(text: str) -> str:
    patches = (*PATCHES, Patch("node/w1/70-x.yaml", text))
    return generate_configuration(arguments(TOPOLOGY, TOPOLOGY.node("w1"), patches, placeholder_bundle()))


def label(text: str) -> object:
    """The label of a configuration, read by a reader of YAML 1.2 that has nothing to do with the machinery."""
    documents = list(YAML(typ="safe", pure=True).load_all(text))
    return documents[0]["machine"]["nodeLabels"]["x"]


@pytest.mark.parametrize("word", WORDS)
def test_a_plain_word_where_text_is_wanted_reaches_the_machine_as_it_is_written(word: str) -> None:
    text = configuration(f"machine:\n  nodeLabels:\n    x: {word}\n")
    assert label(text) == word
    assert parse_configuration(text).find("machine", "nodeLabels", "x") == word


@pytest.mark.parametrize("word", WORDS)
def test_a_word_in_quotes_where_anything_goes_stays_text(word: str) -> None:
    text = configuration(f'machine:\n  kubelet:\n    extraConfig:\n      x: "{word}"\n')
    (document, *_) = YAML(typ="safe", pure=True).load_all(text)
    assert document["machine"]["kubelet"]["extraConfig"]["x"] == word
    assert parse_configuration(text).find("machine", "kubelet", "extraConfig", "x") == word


@pytest.mark.parametrize("word", ["off", "on", "yes", "no", "y", "52:54:00:12:34:56", "12:34:56"])
def test_a_plain_word_of_yaml_1_1_where_anything_goes_stays_text(word: str) -> None:
    text = configuration(f"machine:\n  kubelet:\n    extraConfig:\n      x: {word}\n")
    assert parse_configuration(text).find("machine", "kubelet", "extraConfig", "x") == word


# The other reader takes `+_`, without a digit, and `.0_` for numbers, or fails.
_TEXT = st.from_regex(r"[0-9a-fA-FoxeEyYnN:._+-]{1,12}", fullmatch=True)


@given(_TEXT.filter(lambda word: word.strip("+-_") and not re.match(r"\.[0-9]*_", word)))
def test_any_text_in_quotes_reaches_the_machine_as_it_is_written(word: str) -> None:
    assert label(configuration(f'machine:\n  nodeLabels:\n    x: "{word}"\n')) == word


def test_the_host_name_document_keeps_off_as_text() -> None:
    (document,) = parse_configuration(configuration("machine: {sysctls: {a: b}}\n")).of_kind("HostnameConfig")
    assert document.values["auto"] == "off"
