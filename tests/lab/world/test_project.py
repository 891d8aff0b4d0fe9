"""The copy of a stack file that the lab's engine works with."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from lab import project
from lab.run import Run
from lab.stackfile import FACTORY_ADDRESS, StackError, read

STACK = """\
encryptionsalt: v1:AAAAAAAAAAA=:v1:x:y
secretsprovider: awskms://somewhere
config:
  talos-stacks:password: {secure: v1:a:b}
  talos-stacks:cluster:
    name: trial   # a comment
    auto: "off"
    endpoint: https://k8s.example.internal:6443
    imageFactory: https://factory.example.internal
    network: {nodes: 10.0.0.0/24, vip: 10.0.0.5}
    platform: {kind: proxmox, endpoint: "https://pve.example.internal:8006"}
    data: {deep: [{token: {secure: v1:c:d}}]}
    nodes:
      - {name: cp-1, role: controlplane, address: 10.0.0.11, installDisk: {busPath: "/pci0*", serial: S1}}
      - {name: odd, role: worker, address: not-an-address}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "patches" / "all").mkdir(parents=True)
    (folder / "patches" / "all" / "50-registry.yaml.j2").write_text("auth: {{ secret('registryPassword') }}\n")
    (folder / "Pulumi.yaml").write_text(
        "name: talos-stacks\nruntime: {name: python, options: {virtualenv: .venv}}\nmain: __main__.py\n"
    )
    (folder / "Pulumi.trial.yaml").write_text(STACK)
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Run("trial", tmp_path / "runs")
    made.create()
    return made


def written(run: Run, checkout: Path) -> dict[str, object]:
    project.write(read("trial", checkout), run, checkout)
    found = YAML(typ="safe").load((run.project / "Pulumi.trial.yaml").read_text())
    assert isinstance(found, dict)
    return found


def test_the_program_stays_where_it_is(run: Run, checkout: Path) -> None:
    written(run, checkout)
    found = YAML(typ="safe").load((run.project / "Pulumi.yaml").read_text())
    assert found["main"] == str(checkout / "__main__.py")
    assert found["runtime"]["options"]["virtualenv"] == str(checkout / ".venv")


def test_secrets_get_lab_values_that_the_engine_can_read(run: Run, checkout: Path, engine: Path) -> None:
    written(run, checkout)
    told = subprocess.run(
        [engine, "config", "--show-secrets", "--json", "--cwd", run.project, "--stack", "trial"],
        env=os.environ | stack_environment(run, engine),
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    values = json.loads(told.stdout)
    names = ["password", "registryPassword", "proxmoxApiToken"]
    plain = [values[f"talos-stacks:{name}"]["value"] for name in names]
    assert all(values[f"talos-stacks:{name}"]["secret"] for name in names)
    assert all(re.fullmatch(r"lab-[0-9a-f]{32}", value) for value in plain[:2])
    assert re.fullmatch(r"lab@pve!talos=[0-9a-f-]{36}", plain[2])
    nested = json.loads(values["talos-stacks:cluster"]["value"])["data"]["deep"][0]["token"]
    assert re.fullmatch(r"lab-[0-9a-f]{32}", nested)
    assert not any(value in (run.project / "Pulumi.trial.yaml").read_text() for value in plain)


def stack_environment(run: Run, engine: Path) -> dict[str, str]:
    environment = run.environment()
    made = subprocess.run(
        [engine, "stack", "init", "trial", "--cwd", run.project], env=environment, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return environment


def test_a_value_made_up_once_stays_for_the_run(run: Run, checkout: Path) -> None:
    first = written(run, checkout)
    (checkout / "Pulumi.trial.yaml").write_text(STACK.replace("cp-1", "cp-2"))
    second = written(run, checkout)
    for key in ("talos-stacks:password", "talos-stacks:registryPassword", "talos-stacks:proxmoxApiToken"):
        assert first["config"][key] == second["config"][key]  # type: ignore[index]
    assert first["encryptionsalt"] == second["encryptionsalt"]
    assert "cp-2" in (run.project / "Pulumi.trial.yaml").read_text()


def test_everything_else_is_copied_letter_by_letter_and_the_original_left_alone(run: Run, checkout: Path) -> None:
    found = written(run, checkout)
    text = (run.project / "Pulumi.trial.yaml").read_text()
    assert 'auto: "off"' in text
    assert "# a comment" in text
    assert "secretsprovider" not in found
    assert (checkout / "Pulumi.trial.yaml").read_text() == STACK


def test_names_of_the_stack_lead_into_the_lab(checkout: Path) -> None:
    assert read("trial", checkout).names() == {
        "factory.talos.dev": [FACTORY_ADDRESS],
        "factory.example.internal": [FACTORY_ADDRESS],
        "k8s.example.internal": ["10.0.0.5"],
        "pve.example.internal": ["192.0.2.2"],
    }


def test_the_rack_holds_what_is_bought_and_a_hypervisor_makes_the_rest(checkout: Path) -> None:
    assert read("trial", checkout).hardware() == []
    (checkout / "Pulumi.trial.yaml").write_text(STACK.replace("kind: proxmox", "kind: bare-metal"))
    (machine,) = read("trial", checkout).hardware()
    assert (machine["name"], machine["address"]) == ("cp-1", "10.0.0.11")
    assert machine["disks"] == [{"bus_path": "/pci00", "serial": "S1"}]
    assert re.fullmatch(r"02(:[0-9a-f]{2}){5}", machine["mac"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "Pulumi.trial.yaml:1: is not YAML"),
        ("- a", "holds no configuration"),
        (None, "there is no stack trial"),
    ],
)
def test_a_stack_file_that_is_none_is_refused(checkout: Path, text: str | None, message: str) -> None:
    path = checkout / "Pulumi.trial.yaml"
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(StackError, match=message):
        read("trial", checkout)


def test_odd_content_is_left_to_the_program(checkout: Path) -> None:
    (checkout / "Pulumi.trial.yaml").write_text(
        "config: {talos-stacks:cluster: {nodes: 3, platform: [], network: x}}\n"
    )
    stack = read("trial", checkout)
    assert (stack.platform, stack.addresses, stack.hardware()) == ("", [], [])
