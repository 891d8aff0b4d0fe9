"""The API server as kubectl sees it: Nodes, and a word for what there is not."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from lab.machine.kubeconfig import admin_kubeconfig
from lab.machine.pki import CLIENT, Authority, client_context
from lab.machine.web import Answer, ask
from tests.lab.machine.lab import Lab

pytestmark = [pytest.mark.asyncio(loop_scope="module")]
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


async def get(lab: Lab, path: str, headers: dict[str, str] | None = None, **how: Any) -> Answer:
    authority = Authority(lab.secrets.k8s.crt.encode(), lab.secrets.k8s.key.encode())
    pair = authority.issue("tester", [CLIENT], organizations=["system:masters"])
    return await ask(lab.vip, 6443, client_context(authority.crt, pair), path, headers=headers, **how)


async def rows(lab: Lab, path: str = "/api/v1/nodes") -> dict[str, dict[str, str]]:
    table = (await get(lab, path, TABLE)).json()
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    names = [column["name"] for column in table["columnDefinitions"]]
    found = [dict(zip(names, row["cells"], strict=True)) for row in table["rows"]]
    return {row["Name"]: row for row in found}


async def test_it_says_that_it_serves_nodes_and_nothing_else(cluster: Lab) -> None:
    assert (await get(cluster, "/api")).json()["versions"] == ["v1"]
    assert (await get(cluster, "/apis")).json()["groups"] == []
    resources = (await get(cluster, "/api/v1")).json()["resources"]
    assert [(each["name"], each["kind"], each["namespaced"]) for each in resources] == [("nodes", "Node", False)]
    for path in ("/apis/apps/v1", "/openapi/v3", "/api/v1/namespaces/default/pods"):
        assert (await get(cluster, path)).status == 404


async def test_nodes_come_as_the_table_that_is_printed(cluster: Lab) -> None:
    found = await rows(cluster)
    assert sorted(found) == ["cp1", "cp2", "cp3", "w1"]
    assert found["cp1"]["Status"] == found["w1"]["Status"] == "Ready"
    assert (found["cp1"]["Roles"], found["w1"]["Roles"]) == ("control-plane", "<none>")
    assert found["w1"]["Internal-IP"] == cluster.named("w1").hardware.address
    assert found["w1"]["Age"][-1] in "sm"
    assert sorted(await rows(cluster, "/api/v1/nodes/w1")) == ["w1"]


async def test_a_node_that_is_cordoned_says_so(cluster: Lab) -> None:
    for unschedulable, status in ((True, "Ready,SchedulingDisabled"), (None, "Ready")):
        body = {"spec": {"unschedulable": unschedulable}}
        assert (await get(cluster, "/api/v1/nodes/w1", method="PATCH", body=body)).status == 200
        assert (await rows(cluster))["w1"]["Status"] == status


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("node-role.kubernetes.io/control-plane", ["cp1", "cp2", "cp3"]),
        ("kubernetes.io/hostname=w1", ["w1"]),
        ("kubernetes.io/hostname%3D%3Dw1,kubernetes.io/os%3Dlinux", ["w1"]),
        ("kubernetes.io/hostname=other", []),
    ],
)
async def test_a_label_selector_selects(cluster: Lab, selector: str, names: list[str]) -> None:
    assert sorted(await rows(cluster, f"/api/v1/nodes?limit=500&labelSelector={selector}")) == names


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("watch=true", "watch is not simulated"),
        ("fieldSelector=metadata.name%3Dw1", "fieldSelector is not simulated"),
        ("labelSelector=%21a", "the label selector !a is not simulated; KEY and KEY=VALUE are"),
    ],
)
async def test_what_is_not_simulated_is_refused(cluster: Lab, query: str, message: str) -> None:
    answer = await get(cluster, f"/api/v1/nodes?{query}", TABLE)
    assert (answer.status, answer.json()["message"]) == (400, message)


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not on PATH")
async def test_kubectl_prints_the_nodes(cluster: Lab, tmp_path: Path) -> None:
    session = cluster.named("cp1").session
    assert session
    config = tmp_path / "kubeconfig"
    config.write_text(admin_kubeconfig(session.settings))

    async def kubectl(*arguments: str) -> str:
        command = ["kubectl", "--kubeconfig", str(config), "--cache-dir", str(tmp_path / "cache"), *arguments]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
        out, err = await process.communicate()
        return (out if process.returncode == 0 else err).decode()

    assert await kubectl("get", "nodes", "--output", "name") == "node/cp1\nnode/cp2\nnode/cp3\nnode/w1\n"
    lines = (await kubectl("get", "nodes")).splitlines()
    assert lines[0].split() == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [line.split()[:3] for line in lines[1:]] == [
        *(["cp1", "Ready", "control-plane"], ["cp2", "Ready", "control-plane"], ["cp3", "Ready", "control-plane"]),
        ["w1", "Ready", "<none>"],
    ]
    assert f"Server Version: {session.settings.kubernetes_version}" in await kubectl("version")
    assert await kubectl("get", "pods") == 'error: the server doesn\'t have a resource type "pods"\n'
