"""What a preview says of a change that a living cluster takes no notice of: the node, the file and the line."""

import asyncio
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from components.living import telling
from machineconfig import Plan, make_plan
from machineconfig.causes import Causes
from machineconfig.generation import arguments
from machineconfig.placeholder import placeholder_bundle
from machinery import ConfigError, generate_configuration

ROOT = Path(__file__).parents[2]
NODES = ("lab-controlplane-01", "lab-controlplane-02", "lab-worker-01", "lab-worker-02")


@pytest.fixture
def patches(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "patches", tmp_path / "patches", ignore=shutil.ignore_patterns("node", "zone"))


def plan(patches: Path, **changes: Any) -> Plan:
    config = yaml.safe_load((ROOT / "Pulumi.lab.yaml").read_text())["config"]
    return make_plan({**config["talos-stacks:cluster"], **changes}, patches=patches)


def texts(made: Plan) -> dict[str, str]:
    bundle = placeholder_bundle()
    return {
        name: generate_configuration(arguments(made.topology, made.topology.node(name), made.patches[name], bundle))
        for name in NODES
    }


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str], Plan], list[str]]:
    """What is said of a change of all nodes."""
    lines: list[str] = []
    hooks: list[Callable[[Any], Coroutine[Any, Any, None]]] = []
    monkeypatch.setattr("pulumi.log.warn", lines.append)
    monkeypatch.setattr("pulumi.ResourceHook", lambda name, run, options: hooks.append(run))

    def change(old: dict[str, str], made: Plan) -> list[str]:
        telling(Causes(made, "lab"))
        new = texts(made)

        async def run() -> None:
            for name in NODES:
                inputs = [{"machineConfigurationInput": side[name]} for side in (old, new)]
                await hooks[-1](SimpleNamespace(name=name, old_inputs=inputs[0], new_inputs=inputs[1]))

        asyncio.run(run())
        return [line.partition(" has changed: ")[0] for line in lines]

    return change


def test_the_file_and_line_that_set_it(said: Callable[[dict[str, str], Plan], list[str]], patches: Path) -> None:
    before = texts(plan(patches))
    (patches / "worker/70-own.yaml").write_text("machine:\n  install:\n    wipe: true\n")
    (patches / "controlplane/70-own.yaml").write_text("cluster:\n  coreDNS:\n    disabled: true\n")
    assert said(before, plan(patches)) == [
        "patches/controlplane/70-own.yaml:3 (lab-controlplane-01 and others alike): cluster.coreDNS",
        "patches/worker/70-own.yaml:3 (lab-worker-01): machine.install.wipe",
        "patches/worker/70-own.yaml:3 (lab-worker-02): machine.install.wipe",
    ]


def test_what_nobody_sets_any_more_and_what_the_stack_file_gives(
    said: Callable[[dict[str, str], Plan], list[str]], patches: Path
) -> None:
    own = patches / "controlplane/70-own.yaml"
    own.write_text("cluster:\n  coreDNS:\n    disabled: true\n")
    before = texts(plan(patches))
    own.unlink()
    assert said(before, plan(patches, name="other")) == [
        "no file sets it (lab-controlplane-01 and others alike): cluster.coreDNS",
        "Pulumi.lab.yaml, name (lab-controlplane-01 and others alike): cluster.clusterName",
    ]


def test_where_the_real_value_of_a_secret_is_needed_no_file_is_named(
    said: Callable[[dict[str, str], Plan], list[str]], patches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = texts(plan(patches))
    (patches / "worker/70-own.yaml").write_text("machine:\n  install:\n    wipe: true\n")

    def refuses(*_: Any) -> None:
        raise ConfigError("no number")

    monkeypatch.setattr("machineconfig.causes.origins", refuses)
    assert said(before, plan(patches))[0] == "machine configuration (lab-worker-01): machine.install.wipe"
