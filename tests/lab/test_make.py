"""What the Makefile refuses before it does anything."""

import os
import subprocess

import pytest

from engine import ROOT

THERE = "there are: " + " ".join(sorted(path.name.split(".")[1] for path in ROOT.glob("Pulumi.*.yaml")))


def make(*arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name not in {"STACK", "MAKEFLAGS", "MAKELEVEL"}}
    return subprocess.run(["make", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("target", ["preview", "up", "recover"])
def test_a_real_stack_is_named_and_there(target: str) -> None:
    for arguments, message in [
        ((target,), f"name the stack: make {target} STACK=NAME; {THERE}"),
        ((target, "STACK=nosuch"), f"there is no stack nosuch (Pulumi.nosuch.yaml); {THERE}"),
        ((target, "STACK=lab prod"), f"there is no stack lab prod (Pulumi.lab prod.yaml); {THERE}"),
        ((target, "homelab"), f"name the stack: make {target} STACK=homelab; {THERE}"),
    ]:
        refused = make(*arguments)
        assert refused.returncode != 0
        assert refused.stderr.splitlines()[0] == message
        assert refused.stdout == ""
    commands = make("--dry-run", target, "STACK=homelab").stdout
    assert f'-m engine {target} --stack "homelab"' in commands
    assert "-m lab" not in commands, "what serves a real stack needs no lab"


def test_the_lab_is_not_made_of_another_stack_in_silence() -> None:
    refused = make("lab", "STACK=homelab")
    assert refused.returncode != 0
    assert refused.stderr.startswith("make lab is for the stack lab; for this one: make rehearse STACK=homelab\n")
    assert "lab up lab\n" in make("--dry-run", "lab").stdout
    assert 'lab up "homelab"\n' in make("--dry-run", "rehearse", "STACK=homelab").stdout


@pytest.mark.parametrize("target", ["lab", "rehearse", "lab-shell", "lab-status", "lab-down"])
def test_a_stack_named_as_a_target_is_not_passed_over(target: str) -> None:
    refused = make(target, "homelab")
    assert refused.returncode != 0 and refused.stdout == ""
    assert refused.stderr.startswith(f"name the stack like this: make {target} STACK=homelab\n")


def test_the_name_of_a_stack_stays_one_word() -> None:
    assert 'lab down "My Stack"\n' in make("--dry-run", "lab-down", "STACK=My Stack").stdout
