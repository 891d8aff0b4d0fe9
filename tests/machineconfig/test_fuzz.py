"""Whatever stands in a patch: findings or a rendering, never a traceback, never a secret in a message."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machineconfig.stacks import RenderingError, check_patches, found, rendered, stack, write

TOPOLOGY = stack()
PIECES = st.sampled_from(
    [
        *("machine: ", "cluster: ", "network: ", "interfaces: ", "nodeLabels: ", "install: ", "hostname: ", "vip: "),
        *("ip: ", "addresses: ", "- ", "---\n", "\n", "\n  ", "\n    ", "{", "}", "[", "]", "{{ ", " }}", "{% if "),
        *(
            "{% for ",
            "%}",
            "{% endif %}",
            "secret('pw')",
            "{{ secret('pw') }}",
            "{{ secret('pw') }}: ",
            "node",
            ".name",
        ),
        *(".x", "include('a')", " | flow", "kind: ", "name: ", "apiVersion: ", "$patch: delete", "UserVolumeConfig"),
        *("HostnameConfig", "LinkConfig", "Layer2VIPConfig", "&a ", "*a", "'", '"', "#", ": ", ", ", "192.168.1.9/24"),
        *("eth0", "deviceSelector: ", "interface: ", "!x ", "? ", "%YAML 1.1\n", "\t", "\x00", "é", "<<: ", "op: "),
        *("path: ", "null", "~", "0", "nodeTaints: ", "extraKernelArgs: ", "etcd: "),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.booleans())
def test_no_patch_ends_in_a_traceback_or_tells_a_secret(text: str, template: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder), {f"all/10-a.yaml{'.j2' if template else ''}": text})
        try:
            patches = {node.name: rendered(TOPOLOGY, node.name, root) for node in TOPOLOGY.nodes}
            said = "\n".join(map(str, check_patches(TOPOLOGY, patches)))
        except RenderingError as error:
            said = str(error)
    assert "hunter2" not in said


@pytest.mark.parametrize(
    "text",
    [
        "machine: {nodeLabels: {node-role.kubernetes.io/{{ secret('pw') }}: a}}",
        "machine: {nodeTaints: {{ '{' }}{{ secret('pw') }}: a}}",
        "{{ secret('pw') }}: 1\n{{ secret('pw') }}: 2\n",
        "apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: {{ secret('pw') }}_\n",
        "kind: {{ secret('pw') }}\n",
        "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: {{ secret('pw') }}\nauto: {{ secret('pw') }}\n",
        "a: &a {{ secret('pw') }}\nb: &a {{ secret('pw') }}\nmachine: {network: {hostname: {{ secret('pw') }}}}\n",
    ],
)
def test_a_check_of_a_secret_patch_speaks_without_the_secret(
    tmp_path: Path, text: str, recwarn: pytest.WarningsRecorder
) -> None:
    lines = found(TOPOLOGY, write(tmp_path, {"all/10-a.yaml.j2": text}))
    assert lines
    assert "hunter2" not in "\n".join([*lines, *(str(warning.message) for warning in recwarn)])


def test_text_that_is_nested_too_deeply_is_refused_like_any_other(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml": "[" * 5000})
    (finding,) = check_patches(TOPOLOGY, {"cp1": rendered(TOPOLOGY, "cp1", tmp_path)})
    assert finding.message == "is not YAML: exceeded maximum nesting depth"
