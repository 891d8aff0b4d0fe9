"""Pictures of topologies: what is in them, and that the committed ones are those of today's stack files."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli import draw, schema
from cli.main import main
from cli.picture import CROWD, picture
from cli.stackfile import read
from stackfile import names as stacks
from tests.machineconfig.stacks import stack
from tests.topology.stacks import valid
from topology import load

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_pictures_are_those_of_the_stack_files() -> None:
    current = draw.document([read(name, ROOT) for name in stacks(ROOT)])
    assert (ROOT / draw.DOCUMENT).read_text() == current, "docs/topologies.md is old: make draw"


def test_zones_hold_their_machines_and_say_what_stays_without_them() -> None:
    drawn = picture(load(valid("three-sites")))
    lines = drawn.mermaid().splitlines()
    zone = lines.index('    subgraph zone2["dc3<br/>without it 2 of 3 control planes stay"]')
    assert lines[zone + 1].strip() == 'controlplane2x0["dc3-cp-01<br/>10.3.0.11"]:::controlplane'
    assert lines[zone + 2] == "    end"
    assert "dc3 has 1 of 3 control planes; losing it leaves 2, and a majority is 2" in drawn.text()


def test_every_machine_is_in_every_form() -> None:
    topology = load(valid("three-sites"))
    drawn = picture(topology)
    for form in (drawn.mermaid(), drawn.text(), json.dumps(drawn.value())):
        for node in topology.nodes:
            assert form.count(f"{node.name}") >= 1
            assert str(node.address) in form


@pytest.mark.parametrize(
    ("changes", "words", "arrow"),
    [
        ({}, "the VIP 192.168.1.120, which one control plane holds", "entry -.-> controlplane0x0"),
        ({"network__vip": None}, "the control plane itself", "api --> controlplane0x0"),
        (
            {"network__vip": None, "endpoint": "https://k8s.example.net:6443"},
            "a name that leads to the control planes",
            "api --> controlplane0x0",
        ),
        (
            {
                "network__vip": None,
                "endpoint": "https://k8s.example.net:6443",
                "apiServer__loadBalancers": ["192.168.1.5"],
            },
            "a load balancer at 192.168.1.5 in front of the control planes",
            "entry --> controlplane0x0",
        ),
    ],
)
def test_the_way_to_the_api_is_drawn(changes: dict[str, Any], words: str, arrow: str) -> None:
    drawn = picture(stack(**changes))
    assert words in drawn.text()
    assert arrow in drawn.mermaid()


def test_a_crowd_of_workers_is_one_box() -> None:
    raw = valid("three-sites")
    worker = next(node for node in raw["nodes"] if node["name"] == "dc2-worker-05")
    raw["nodes"] += [
        {**worker, "name": f"dc2-worker-{number:02}", "address": f"10.2.0.{100 + number}"} for number in range(6, 30)
    ]
    text = picture(load(raw)).mermaid()
    assert 'worker1["29 workers<br/>dc2-worker-01 to dc2-worker-29"]:::worker' in text
    assert text.count(":::worker") == 5 + 1
    assert CROWD < 29


def test_text_and_json_are_for_all_stacks_or_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "--output", "text"]) == 0
    everything = capsys.readouterr().out
    assert all(f"{name}: Talos v" in everything for name in stacks(ROOT))
    assert main(["draw", "--stack", "homelab", "--output", "json"]) == 0
    (drawn,) = json.loads(capsys.readouterr().out)
    assert drawn["endpoint"] == {"url": "https://192.168.1.120:6443", "by": "VIP", "addresses": ["192.168.1.120"]}
    assert [node["name"] for node in drawn["zones"][0]["nodes"]][2] == "talos-gpu-01"


def test_write_is_for_all_stacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", "--stack", "homelab", "--write"]) == 1
    assert "--write draws all stacks; leave --stack out" in capsys.readouterr().err


def test_the_schema_is_printed_as_it_is_committed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == (ROOT / schema.FILE).read_text()


def test_faults_of_the_stack_file_are_said_with_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "patches").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: talos-stacks\nruntime: python\n")
    text = (ROOT / "Pulumi.lab.yaml").read_text().replace("role: worker", "role: servant", 1)
    (tmp_path / "Pulumi.lab.yaml").write_text(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "servant" in each)
    assert main(["draw", "--project", str(tmp_path)]) == 1
    assert f"Pulumi.lab.yaml:{line}: nodes[3].role: " in capsys.readouterr().err
