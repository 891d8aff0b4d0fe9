"""What a template does not find is said in the template's own words."""

from pathlib import Path

import pytest

from tests.machineconfig.stacks import RenderingError, render_node, stack, write


def said(folder: Path, expression: str) -> tuple[str, str]:
    topology = stack()
    node = topology.node("cp1")
    write(folder, {"all/10-a.yaml.j2": f"a: 1\nb: {expression}\n"})
    with pytest.raises(RenderingError) as caught:
        render_node(topology, node, root=folder)
    (finding,) = caught.value.findings
    assert finding.place.line == 2
    return finding.message, finding.cure


@pytest.mark.parametrize(
    ("expression", "message", "cure"),
    [
        ("{{ node.data.rack }}", "node.data has no rack", "give it in the stack file (data: {rack: ...} of the node)"),
        (
            "{{ node.data['rack'] }}",
            "node.data has no rack",
            "give it in the stack file (data: {rack: ...} of the node)",
        ),
        (
            "{{ cluster.data.rack }}",
            "cluster.data has no rack",
            "give it in the stack file (data: {rack: ...} of the c",
        ),
        ("{{ cluster.nam }}", "cluster has no nam (near it: name)", "it has allow_scheduling_on_control_planes, api_"),
        ("{{ facts.adressing }}", "facts has no adressing (near it: addressing)", "it has address_with_prefix, "),
        ("{% set d = node.data %}{{ d.rack }}", "d has no rack", "it has "),
        ("{{ (node.data).rack }}", "a map has no rack", "it has "),
        ("{{ node.data.rack }}{{ cluster.data.rack }}", "a map has no rack", "it has "),
        ("{{ rack }}", "rack is not defined", "a template knows node, cluster, facts, secret, include"),
    ],
)
def test_a_name_that_is_not_there(expression: str, message: str, cure: str, tmp_path: Path) -> None:
    found = said(tmp_path, expression)
    assert found[0] == message
    assert found[1].startswith(cure)


def test_no_cure_names_what_every_model_can_do(tmp_path: Path) -> None:
    assert "model_" not in said(tmp_path, "{{ cluster.xyz }}")[1]
    assert "copy" not in said(tmp_path, "{{ node.xyz }}")[1]
