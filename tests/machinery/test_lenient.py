"""Reading what can be read, so that all the rest of a configuration can be looked at."""

from dataclasses import replace
from typing import Any

import pytest

from machinery import ConfigError, generate_configuration, parse_configuration
from tests.machinery.texts import arguments

PATCH = (
    "machine:\n  install: {wipe: maybe, disk: /dev/vda}\n  nothing: 1\n  nodeLabels: {a: {b: c}, d: e}\n  type: [x]\n"
)


def test_keys_and_values_that_cannot_be_read_are_left_out() -> None:
    args = arguments(PATCH)
    with pytest.raises(ConfigError):
        generate_configuration(args)
    read = parse_configuration(generate_configuration(replace(args, lenient=True)))
    found: dict[str, Any] = {name: read.find("machine", name) for name in ("install", "nothing", "nodeLabels", "type")}
    assert found["install"]["disk"] == "/dev/vda" and not found["install"].get("wipe")
    assert found["nodeLabels"]["d"] == "e"
    assert (found["nothing"], found["type"]) == (None, "controlplane")


def test_a_release_leaves_out_what_it_does_not_know() -> None:
    text = "machine: {install: {grubUseUKICmdline: true, disk: /dev/vda}}\n"
    assert parse_configuration(text, "v1.11.6", lenient=True).find("machine", "install") == {"disk": "/dev/vda"}


def test_what_is_no_configuration_at_all_is_refused_all_the_same() -> None:
    for text in ("a: [", "- a\n", "apiVersion: v1alpha1\nkind: Nothing\n", ""):
        with pytest.raises(ConfigError):
            parse_configuration(text, lenient=True)
