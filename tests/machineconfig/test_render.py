import os
from pathlib import Path

import pytest

from machineconfig import NodeFacts
from machineconfig.bounds import LARGEST, STEPS
from machineconfig.checks.configuration import bundle
from machineconfig.generation import arguments
from machineconfig.placeholder import shown
from tests.machineconfig.stacks import OLD, RenderingError, raw, refused, render_cluster, rendered, stack, write
from topology import ROLES, Role


def texts(root: Path, **changes: object) -> list[str]:
    return [patch.text for patch in rendered(stack(**changes), "cp1", root)]


def test_levels_come_in_the_order_all_type_role_zone_platform_node(tmp_path: Path) -> None:
    folders = ["node/cp1", "platform/proxmox", "zone/dc1", "role/controlplane", "controlplane", "all"]
    folders += ["worker", "role/worker", "zone/dc2", "node/w1"]
    write(tmp_path, {f"{folder}/10-a.yaml": f"machine: {{env: {{a: {folder}}}}}\n" for folder in folders})
    node = {"name": "cp1", "role": "controlplane", "address": "192.168.1.121", "zone": "dc1"}
    topology = stack(zones={"dc1": {}, "dc2": {}}, nodes=[node | {"cores": 4, "memory": 8192}])
    sources = [patch.source for patch in rendered(topology, "cp1", tmp_path)]
    assert sources == [
        "all/10-a.yaml",
        "controlplane/10-a.yaml",
        "role/controlplane/10-a.yaml",
        "zone/dc1/10-a.yaml",
        "platform/proxmox/10-a.yaml",
        "node/cp1/10-a.yaml",
    ]


def test_a_role_of_ones_own_is_a_line_in_the_table_and_a_folder_of_patches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ROLES, "storage", Role("storage", "worker", "storage nodes"))
    files = [f"{folder}/10-a.yaml.j2" for folder in ("all", "worker", "role/storage", "role/worker", "controlplane")]
    write(tmp_path, dict.fromkeys(files, "machine: {env: {a: {{ node.role }}-{{ node.machine_type }}}}\n"))
    nodes = [*raw()["nodes"], raw()["nodes"][1] | {"name": "s1", "role": "storage", "address": "192.168.1.123"}]
    topology = stack(nodes=nodes)
    patches = rendered(topology, "s1", tmp_path)
    assert [patch.source.rpartition("/")[0] for patch in patches] == ["all", "worker", "role/storage"]
    assert patches[0].text == "machine: {env: {a: storage-worker}}\n"
    assert [node.name for node in topology.workers] == ["w1", "s1"]
    assert arguments(topology, topology.node("s1"), (), bundle()).machine_type == "worker"
    assert [patch.source for patch in rendered(topology, "w1", tmp_path)][-1] == "role/worker/10-a.yaml.j2"


def test_a_folder_of_no_role_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"role/storage/10-a.yaml": "machine: {}\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert finding.message == "no node reads a folder called storage"


def test_the_number_in_front_decides_the_order_inside_a_level(tmp_path: Path) -> None:
    write(tmp_path, {"all/20-a.yaml": "machine: {}\n", "all/03-z.yaml.j2": "machine: {}\n", "all/10-m.yaml": "a: b\n"})
    sources = [patch.source for patch in rendered(stack(), "cp1", tmp_path)]
    assert sources == ["all/03-z.yaml.j2", "all/10-m.yaml", "all/20-a.yaml"]


def test_a_missing_folder_is_no_error(tmp_path: Path) -> None:
    assert rendered(stack(), "cp1", tmp_path / "nothing") == ()


def test_a_file_without_j2_is_taken_verbatim(tmp_path: Path) -> None:
    text = "# {{ x }} ${HOME} $patch\nmachine:\n  env: {a: '{% y', b: off, c: 010, d: 2024-01-01}\n"
    write(tmp_path, {"all/10-a.yaml": text})
    assert texts(tmp_path) == [text]


def test_a_template_is_rendered_and_nothing_else_of_it_changes(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"all/10-a.yaml.j2": "machine:\n  env: {a: {{ node.name }}, b: off, c: 'bc:24:11:aa:00:01', d: $HOME}\n"},
    )
    assert texts(tmp_path) == ["machine:\n  env: {a: cp1, b: off, c: 'bc:24:11:aa:00:01', d: $HOME}\n"]


def test_several_documents_stand_in_one_file(tmp_path: Path) -> None:
    text = "machine: {}\n---\napiVersion: v1alpha1\nkind: UserVolumeConfig\nname: data\n"
    write(tmp_path, {"all/10-a.yaml": text})
    assert texts(tmp_path) == [text]


@pytest.mark.parametrize(
    "text", ["", "\n", "# nothing for this role\n", "{% if false %}a: b{% endif %}\n", "---\n# a\n---\n"]
)
def test_what_renders_to_nothing_or_to_comments_is_left_out(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": text})
    assert texts(tmp_path) == []


def test_a_patch_ends_with_the_end_of_a_line_so_that_no_one_takes_it_for_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml": "machine:{}"})
    assert texts(tmp_path) == ["machine:{}\n"]


def test_an_undefined_variable_names_file_line_variable_and_node(tmp_path: Path) -> None:
    write(tmp_path, {"controlplane/10-x.yaml.j2": "machine:\n  network:\n    a: [{{ node.ip6 }}/64]\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert (finding.place.file, finding.place.line, finding.place.nodes) == (
        "patches/controlplane/10-x.yaml.j2",
        3,
        ("cp1",),
    )
    assert finding.message.startswith("node has no ip6")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("node.adress", "node has no adress (near it: address)"),
        ("nodes.name", "nodes is not defined (near it: node)"),
        ("cluster.network.namservers", "cluster.network has no namservers (near it: nameservers)"),
        ("node.data.sit", "node.data has no sit (near it: site)"),
    ],
)
def test_a_known_name_that_is_near_is_suggested(tmp_path: Path, expression: str, message: str) -> None:
    write(tmp_path, {"all/10-x.yaml.j2": f"a: {{{{ {expression} }}}}\n"})
    node = {"name": "cp1", "role": "controlplane", "address": "192.168.1.121", "data": {"site": "a"}}
    topology = stack(nodes=[node | {"cores": 4, "memory": 8192, "diskSize": 40}])
    assert refused(topology, "cp1", tmp_path)[0].message == message


TOO_LARGE = f"makes more than the {LARGEST} characters that a patch may have"
TOO_LONG = f"takes more than the {STEPS} steps that a patch may have"


@pytest.mark.parametrize("text", ["{{ 'ab' * 3 }}", "{{ 2 ** 6 }}", "{{ 6 * 7 }}", "{{ 7 % 4 }}"])
def test_small_sums_are_done(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"all/10-x.yaml.j2": f"a: {text}\n"})
    results = {"ababab", "64", "42", "3"}
    assert texts(tmp_path)[0].removeprefix("a: ").strip() in results


@pytest.mark.parametrize(
    ("template", "line", "message"),
    [
        ("a: 1\nb: {{ node.zone }}\n", 2, "node.zone has no value here"),
        ("a: {{ cluster.network.nodes }}\n", 1, "cluster.network.nodes is more than one value"),
        ("a: {{ cluster.network }}\n", 1, "cluster.network is no text"),
        ("a: {{ node.name + 1 }}\n", 1, "node.name + 1 fails (TypeError)"),
        ("a: 1\n{% if x %}\n{% endif %}\n", 2, "x is not defined"),
        ("a: {{ .Values }}\n", 1, "unexpected '.'"),
        ('{% include "all/10-x.yaml.j2" %}\n', 1, "include reads another file as a template"),
        ("a: 1\n{{ 1 / 0 }}\n", 2, "1 / 0 fails (ZeroDivisionError)"),
        ("a: 1\n{{ 'x' * 10**10 }}\n", 2, f"'x' * 10**10 {TOO_LARGE}"),
        ("{{ 10**9 * [node.name] }}\n", 1, f"10**9 * [node.name] {TOO_LARGE}"),
        ("{{ 9 ** 9999999 }}\n", 1, f"9 ** 9999999 {TOO_LARGE}"),
        ("{{ '%99999999d' % 1 }}\n", 1, "'%99999999d' % 1 formats a text"),
        ("{% for i in range(10 ** 8) %}\n{% endfor %}\n", 1, f"for i in range(10 ** 8) {TOO_LONG}"),
        (
            "{% for i in range(9000) %}{% for j in range(9000) %}\n  - {{ j }}\n{% endfor %}{% endfor %}\n",
            1,
            f"for i in range(9000) and for j in range(9000) {TOO_LONG}",
        ),
    ],
)
def test_what_a_template_cannot_write_is_refused_with_its_line(
    tmp_path: Path, template: str, line: int | None, message: str
) -> None:
    write(tmp_path, {"all/10-x.yaml.j2": template})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert finding.place.line == line
    assert finding.message == message


def test_every_fault_of_a_node_is_said_at_once(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": "{{ x }}", "all/note.txt": "", "controlplane/10-b.yaml.j2": "{{ y }}"})
    assert [finding.place.file for finding in refused(stack(), "cp1", tmp_path)] == [
        "patches/all/note.txt",
        "patches/all/10-a.yaml.j2",
        "patches/controlplane/10-b.yaml.j2",
    ]


def test_a_fault_of_several_nodes_is_said_once_with_their_names(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": "{{ x }}"})
    topology = stack()
    with pytest.raises(RenderingError) as error:
        render_cluster(topology, root=tmp_path)
    assert str(error.value) == (
        "patches/all/10-a.yaml.j2:1 (cp1, w1): x is not defined; a template knows node, cluster, facts, secret, include"
    )


def test_numbers_and_flags_are_written_as_yaml_has_them(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": "a: {{ node.cores }}\nb: {{ 1.5 }}\nc: {{ cluster.network.discovery }}\n"})
    assert [patch.text for patch in rendered(stack(), "cp1", tmp_path)] == ["a: 4\nb: 1.5\nc: true\n"]


@pytest.mark.parametrize("name", ["network.yaml", "1-network.yaml", "10-network.yml", "10_network.yaml", "10-Net.yaml"])
def test_a_file_that_is_not_named_like_a_patch_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, {f"all/{name}": "machine: {}\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert finding.message == f"{name} is not the name of a patch"
    assert "NN-domain.yaml" in finding.cure


def test_a_folder_that_no_node_reads_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"controlplanes/10-a.yaml": "machine: {}\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert str(finding) == "patches/controlplanes: no node reads a folder called controlplanes; call it controlplane"


@pytest.mark.parametrize("name", ["10-a.yaml", "node/10-a.yaml.j2", "zone/a.yml", "notes.txt", "platform/a"])
def test_a_file_beside_the_levels_is_refused_with_the_levels(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: "machine: {}\n", "README.md": "", "node/README.md": ""})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert str(finding) == (
        f"patches/{name}: is a file that no node reads; move it to a level: all/, controlplane/, worker/,"
        " role/<role>/, zone/<zone>/, platform/<kind>/ or node/<name>/"
    )


def test_a_platform_that_there_is_not_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"platform/baremetal/10-a.yaml": "machine: {}\n", "platform/bare-metal/10-a.yaml": "a: b\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert str(finding) == "patches/platform/baremetal: no node reads a folder called baremetal; call it bare-metal"


@pytest.mark.parametrize("place", ["all/10-a.yaml", "node/w1", "controlplane"])
def test_a_link_to_nothing_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).symlink_to(tmp_path / "nothing")
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert (finding.place.file, finding.message) == (f"patches/{place}", "is a link to something that is not there")


def test_what_is_no_file_and_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    os.mkfifo(tmp_path / "all/10-a.yaml")
    (tmp_path / "all/20-b.yaml").symlink_to(tmp_path / "all/20-b.yaml")
    first, second = refused(stack(), "cp1", tmp_path)
    assert (first.place.file, first.message) == ("patches/all/10-a.yaml", "is neither a file nor a folder")
    assert second.message.startswith("cannot be read: ")


def test_a_file_or_folder_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"all/10-a.yaml": "machine: {}\n", "node/cp1/10-a.yaml": "machine: {}\n"})
    hidden = {tmp_path / "all/10-a.yaml", tmp_path / "node/cp1"}
    monkeypatch.setattr(os, "access", lambda path, mode: path not in hidden)  # root may read everything
    found = [(finding.place.file, finding.message) for finding in refused(stack(), "cp1", tmp_path)]
    assert found == [
        ("patches/node/cp1", "cannot be read: Permission denied"),
        ("patches/all/10-a.yaml", "cannot be read: Permission denied"),
    ]


def test_a_file_that_fails_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"all/10-a.yaml": "machine: {}\n"})

    def fail(path: Path, *arguments: object, **options: object) -> str:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "read_text", fail)
    assert refused(stack(), "cp1", tmp_path)[0].message == "cannot be read: Input/output error"


def test_a_link_in_a_circle_is_not_included(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": 'a: {{ include("manifests/a") }}\n', "manifests/b": ""})
    (tmp_path / "manifests/a").symlink_to(tmp_path / "manifests/a")
    assert "includes a file that" in refused(stack(), "cp1", tmp_path)[0].message


def test_a_folder_inside_a_level_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"all/more/10-a.yaml": "machine: {}\n"})
    assert refused(stack(), "cp1", tmp_path)[0].message == "is a folder inside a level"


def test_a_manifest_is_included_verbatim_and_indented(tmp_path: Path) -> None:
    manifest = "kind: ConfigMap\ndata:\n  x: echo ${#ARR[@]} {{ .Release.Name }} ${host} {% raw %}\n"
    template = "cluster:\n  inlineManifests:\n    - name: a\n      contents: |\n        "
    template += '{{ include("manifests/a.yaml") | indent(8) }}\n'
    write(tmp_path, {"manifests/a.yaml": manifest, "all/10-a.yaml.j2": template})
    assert texts(tmp_path)[0].endswith(
        "      contents: |\n"
        "        kind: ConfigMap\n"
        "        data:\n"
        "          x: echo ${#ARR[@]} {{ .Release.Name }} ${host} {% raw %}\n"
    )


def test_an_included_file_that_is_missing_is_named_with_those_beside_it(tmp_path: Path) -> None:
    write(tmp_path, {"manifests/a.yaml": "", "all/10-a.yaml.j2": 'a: {{ include("manifests/b.yaml") }}\n'})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert finding.message.endswith("includes a file that does not exist: manifests/b.yaml")
    assert finding.cure == "there is manifests/a.yaml below patches/"


@pytest.mark.parametrize("path", ["../secret", "manifests/../../secret"])
def test_nothing_outside_the_patches_is_included(tmp_path: Path, path: str) -> None:
    write(tmp_path, {"secret": "x", "p/all/10-a.yaml.j2": f'a: {{{{ include("{path}") }}}}\n'})
    assert "includes a file outside patches/" in refused(stack(), "cp1", tmp_path / "p")[0].message


def test_a_secret_marks_its_patch_and_no_other(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": 'a: {{ secret("pw") }}\n', "all/20-b.yaml.j2": "a: b\n"})
    marked, plain = rendered(stack(), "cp1", tmp_path)
    assert (marked.secrets, marked.is_secret, shown(marked.text)) == (frozenset({"pw"}), True, "a: <secret pw>\n")
    assert (plain.secrets, plain.is_secret) == (frozenset(), False)
    assert "hunter2" not in repr(marked)


@pytest.mark.parametrize("name", ["registry password", "9lives", "a:b", "a.b", "$(id)", "pw\n"])
def test_the_name_of_a_secret_is_one_that_the_command_can_set(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": f"a: {{{{ secret({name!r}) }}}}\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert f"asks for the secret {name!r}, which cannot be a configuration key" in finding.message
    assert finding.cure == "use letters, digits, - and _, and begin with a letter"


@pytest.mark.parametrize("expression", ['secret("pw").x', 'secret("pw") + 1', 'secret("pw") | int("x", "y", 3, 4)'])
def test_a_template_that_fails_over_a_secret_does_not_say_it(tmp_path: Path, expression: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": f"a: {{{{ {expression} }}}}\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert "hunter2" not in str(finding)


def test_a_line_of_the_rendering_leads_to_its_line_in_the_template(tmp_path: Path) -> None:
    template = (
        "{# c #}\n{% set x = 1 %}\nmachine:\n{% if x %}\n  env:\n"
        "{% for k in ['a', 'b'] %}\n    {{ k }}: 1\n{% endfor %}\n{% endif %}\n  type: x\n"
    )
    write(tmp_path, {"all/10-a.yaml.j2": template})
    (patch,) = rendered(stack(), "cp1", tmp_path)
    lines = {text: patch.line(number) for number, text in enumerate(patch.text.splitlines(), start=1)}
    assert lines == {"machine:": 3, "  env:": 5, "    a: 1": 7, "    b: 1": 7, "  type: x": 10}


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml": ""})
    (tmp_path / "all/10-a.yaml").write_bytes(b"a: \xff\n")
    assert refused(stack(), "cp1", tmp_path)[0].message == "is not UTF-8 text"


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": ""})
    (tmp_path / "all/10-a.yaml.j2").write_bytes(b"\xef\xbb\xbfmachine:\r\n  env: {a: {{ node.name }}}\r\n")
    assert texts(tmp_path) == ["machine:\n  env: {a: cp1}\n"]


def test_a_delete_of_a_key_has_the_key_made_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"all/10-a.yaml": "machine:\n  nodeLabels:\n    x/y: {$patch: delete}\n    a: b\n  time: {$patch: delete}\n"},
    )
    first, second = rendered(stack(), "cp1", tmp_path)
    assert first.text == (
        "# So that the deletes of the next patch find something.\n"
        "machine:\n    nodeLabels:\n        x/y: null\n    time: null\n"
    )
    assert second.text.startswith("machine:\n  nodeLabels:\n    x/y: {$patch: delete}")


_DELETE = "apiVersion: v1alpha1\nkind: {}\n$patch: delete\n"


def test_a_delete_of_a_document_that_no_one_made_is_left_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "all/10-a.yaml": "# a\nmachine: {}\n---\n"
            + _DELETE.format("UserVolumeConfig")
            + "name: x\n---\n# c\ncluster: {}\n"
        },
    )
    assert texts(tmp_path) == ["# a\nmachine: {}\n---\n# c\ncluster: {}\n"]


def test_a_patch_of_nothing_but_deletes_of_absent_documents_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml": _DELETE.format("TimeSyncConfig")})
    assert texts(tmp_path) == []


def test_a_delete_of_a_document_that_the_contract_makes_stays(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml": _DELETE.format("HostnameConfig")})
    assert texts(tmp_path) == [_DELETE.format("HostnameConfig")]
    assert texts(tmp_path, versions=OLD) == []


def test_a_delete_of_a_document_that_an_earlier_patch_made_stays(tmp_path: Path) -> None:
    made = "apiVersion: v1alpha1\nkind: TimeSyncConfig\nenabled: true\n"
    write(tmp_path, {"all/10-a.yaml": made, "node/cp1/10-a.yaml": _DELETE.format("TimeSyncConfig")})
    assert texts(tmp_path) == [made, _DELETE.format("TimeSyncConfig")]


def test_the_installer_has_the_schematic_of_the_nodes_image() -> None:
    topology = stack()
    made = NodeFacts(topology, topology.node("cp1")).installer
    assert made.startswith("factory.talos.dev/nocloud-installer/ce4c9805") and made.endswith(":v1.13.9")
