"""The rendered patches merged and validated as Talos does it, for every stack of the repo and every kind of cluster."""

import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from machinery import Bundle, GenerateArgs, generate_configuration, generate_secrets, parse_configuration, validate
from tests.machineconfig import golden
from tests.machineconfig.stacks import BARE_METAL, OLD, PATCHES, rendered, stack, write
from topology import Topology

LABEL = "node.kubernetes.io/exclude-from-external-load-balancers"
CHANGES: dict[str, dict[str, Any]] = {
    "plain": {},
    "contract-1.11": {"versions": OLD},
    "bare-metal": BARE_METAL,
    "schedulable": {"allowSchedulingOnControlPlanes": True},
    "schedulable-1.11": {"allowSchedulingOnControlPlanes": True, "versions": OLD},
    "everything": {
        "apiServer": {
            "certSANs": ["10.0.0.9"],
            "oidc": {"issuer": "https://sso.example.net", "clientId": "kubernetes"},
        },
        "kubelet": {"servingCertificates": {"approver": "v0.10.0", "metricsServer": "v0.8.1"}},
        "network__timeServers": ["time.example.net"],
        "network__discovery": False,
    },
}


def clusters() -> Iterator[Any]:
    for name, topology in golden.stacks().items():
        yield pytest.param(topology, id=name)
    for name, changes in CHANGES.items():
        yield pytest.param(stack(**changes), id=name)


@lru_cache
def bundle(contract: str) -> Bundle:
    return generate_secrets(contract)


def configuration(topology: Topology, name: str, root: Path = PATCHES) -> str:
    node = topology.node(name)
    return generate_configuration(
        GenerateArgs(
            cluster_name=topology.name,
            cluster_endpoint=topology.endpoint.url,
            machine_type=node.role,
            machine_secrets=bundle(str(topology.versions.contract)),
            talos_version=str(topology.versions.contract),
            kubernetes_version=str(topology.versions.kubernetes),
            patches=[patch.text for patch in rendered(topology, name, root)],
        )
    )


@pytest.mark.parametrize("topology", list(clusters()))
def test_every_node_gets_a_configuration_that_talos_takes_without_a_warning(topology: Topology) -> None:
    for node in topology.nodes:
        assert validate(parse_configuration(configuration(topology, node.name))) == ()


@pytest.mark.parametrize("changes", [{}, {"versions": OLD}], ids=["1.13", "1.11"])
def test_a_schedulable_control_plane_has_no_label_that_keeps_load_balancers_away(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    shutil.copytree(PATCHES, tmp_path, dirs_exist_ok=True)
    delete = f"machine: {{nodeLabels: {{{LABEL}: {{$patch: delete}}}}}}\n"
    write(tmp_path, {"all/69-label.yaml": delete, "controlplane/70-label.yaml": delete})
    topology = stack(allowSchedulingOnControlPlanes=True, **changes)
    for node in topology.nodes:
        text = configuration(topology, node.name, tmp_path)
        assert validate(parse_configuration(text)) == ()
        assert LABEL not in text


def test_a_delete_of_an_absent_document_changes_nothing(tmp_path: Path) -> None:
    shutil.copytree(PATCHES, tmp_path, dirs_exist_ok=True)
    write(tmp_path, {"all/70-time.yaml": "apiVersion: v1alpha1\nkind: TimeSyncConfig\n$patch: delete\n"})
    assert configuration(stack(), "w1", tmp_path) == configuration(stack(), "w1")
