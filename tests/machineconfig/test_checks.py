import shutil
from pathlib import Path
from typing import Any

import pytest

from machineconfig import Patch
from machineconfig.model import withheld
from machineconfig.placeholder import filled
from tests.machineconfig.stacks import BARE_METAL, OLD, PATCHES, check_patches, found, raw, rendered, stack, write


def with_patches(root: Path, files: dict[str, str]) -> Path:
    """The repo's patches and some more."""
    shutil.copytree(PATCHES, root, dirs_exist_ok=True)
    return write(root, files)


def volume(name: str, body: str = "provisioning: {minSize: 1GB}", kind: str = "UserVolumeConfig") -> str:
    return f"apiVersion: v1alpha1\nkind: {kind}\nname: {name}\n{body}\n"


NAMED = "machine: {network: {interfaces: [{interface: eth0, addresses: [192.168.1.121/24]}]}}\n"
SELECTED = "machine: {network: {interfaces: [{deviceSelector: {hardwareAddr: 'bc:24:11:aa:00:01'}, mtu: 9000}]}}\n"


def test_the_patches_of_the_repo_have_nothing_wrong(tmp_path: Path) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"versions": OLD},
        BARE_METAL,
        {"allowSchedulingOnControlPlanes": True},
        {"network__timeServers": ["time.example.net"], "network__discovery": False},
    ]
    for change in changes:
        assert found(stack(**change), PATCHES) == []


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("a: [\n", "1 (cp1, w1): is not YAML: did not find expected node content"),
        ("machine:\n\tenv: {}\n", "2 (cp1, w1): is not YAML: it is indented with a tab"),
        ("machine:\n  env: {}\n  env: {}\n", "3 (cp1, w1): machine.env is set a second time, after line 2; keep one"),
        ("just text\n", "1 (cp1, w1): is not a mapping; write it as a fragment of the machine configuration"),
        ("- a\n", "1 (cp1, w1): is not a mapping"),
        ("kind: TimeSyncConfig\n", "1 (cp1, w1): TimeSyncConfig has no apiVersion; add apiVersion: v1alpha1"),
        ("apiVersion: v1alpha1\n", "1 (cp1, w1): has an apiVersion and no kind"),
        ("a: &x\n  b: *x\n", "1 (cp1, w1): is not YAML: it is nested too deeply"),
    ],
)
def test_text_that_talos_cannot_read_is_refused(tmp_path: Path, text: str, finding: str) -> None:
    lines = found(stack(), write(tmp_path, {"all/70-x.yaml": text}))
    assert len(lines) == 1
    assert lines[0].startswith(f"patches/all/70-x.yaml:{finding}")


@pytest.mark.parametrize("value", ["*hunter2", "a: [", "{{ hunter2 }}", "\t|", "x\n- y"])
def test_a_secret_of_any_characters_leaves_its_patch_yaml(tmp_path: Path, value: str) -> None:
    write(tmp_path, {"all/70-x.yaml.j2": 'machine: {env: {a: {{ secret("pw") }}}}\n'})
    patches = [filled(patch, {"pw": value}) for patch in rendered(stack(), "cp1", tmp_path)]
    assert check_patches(stack(), {"cp1": patches}) == ()


JSON_PATCH = '[{"op": "replace", "path": "/machine/install/disk", "value": "/dev/vda"}]\n'


def test_a_json_patch_is_refused_where_there_are_several_documents(tmp_path: Path) -> None:
    (line,) = found(stack(), write(tmp_path, {"all/70-x.yaml": JSON_PATCH}))
    assert "is a JSON patch; from contract v1.12 on (here v1.13) a configuration has several documents" in line


def test_a_json_patch_is_taken_where_there_is_one_document(tmp_path: Path) -> None:
    assert found(stack(versions=OLD), write(tmp_path, {"all/70-x.yaml": JSON_PATCH})) == []


def test_one_kind_and_name_twice_in_a_file_is_refused(tmp_path: Path) -> None:
    text = volume("data") + "---\n" + volume("data")
    (line,) = found(stack(), with_patches(tmp_path, {"all/70-x.yaml": text}))
    assert line == (
        "patches/all/70-x.yaml:6 (cp1, w1): UserVolumeConfig data is described twice in this level,"
        " after patches/all/70-x.yaml:1; make one document of them"
    )


def test_two_fragments_of_the_main_document_in_a_file_are_refused(tmp_path: Path) -> None:
    (line,) = found(stack(), with_patches(tmp_path, {"all/70-x.yaml": "machine: {}\n---\ncluster: {}\n"}))
    assert "machine and cluster is described twice" in line


def test_one_kind_and_name_twice_in_a_level_is_refused_with_both_files(tmp_path: Path) -> None:
    (line,) = found(stack(), with_patches(tmp_path, {"all/70-x.yaml": volume("d"), "all/71-y.yaml": volume("d")}))
    assert line.startswith("patches/all/71-y.yaml:1 (cp1, w1)")
    assert "after patches/all/70-x.yaml:1" in line


def test_one_kind_and_name_in_different_levels_merges(tmp_path: Path) -> None:
    narrower = volume("data", "provisioning: {diskSelector: {match: system_disk}}")
    root = with_patches(tmp_path, {"all/70-x.yaml": volume("data"), "node/cp1/70-x.yaml": narrower})
    assert found(stack(), root) == []


def test_documents_that_collide_are_refused_with_both_files(tmp_path: Path) -> None:
    resolver = "apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers: [{address: 10.0.0.1}]\n"
    files = {
        "all/70-x.yaml": volume("data"),
        "node/cp1/70-y.yaml": volume("data", "{}", "ExistingVolumeConfig").replace("{}\n", ""),
        "node/cp1/71-z.yaml": volume("db_data"),
        "all/72-r.yaml": resolver,
    }
    lines = found(stack(), with_patches(tmp_path, files))
    assert lines == [
        "patches/node/cp1/70-y.yaml:1 (cp1): ExistingVolumeConfig data collides with UserVolumeConfig data,"
        " patches/all/70-x.yaml:1; keep one of the two, or give one another name",
        "patches/all/72-r.yaml:1 (cp1, w1): ResolverConfig collides with machine.network.nameservers,"
        " patches/all/25-dns.yaml.j2:4; say it in one of the two places",
        "patches/node/cp1/71-z.yaml:3 (cp1): UserVolumeConfig cannot be called db_data;"
        " use 1 to 34 letters, digits and hyphens",
    ]


def test_a_document_that_is_deleted_later_collides_with_nothing(tmp_path: Path) -> None:
    files = {
        "all/70-x.yaml": volume("data"),
        "node/cp1/70-y.yaml": volume("data", "$patch: delete"),
        "node/cp1/71-z.yaml": "apiVersion: v1alpha1\nkind: ExistingVolumeConfig\nname: data\n",
    }
    assert found(stack(), with_patches(tmp_path, files)) == []


def test_an_interface_named_in_one_place_and_selected_in_another_is_refused(tmp_path: Path) -> None:
    (line,) = found(stack(), with_patches(tmp_path, {"node/cp1/70-nic.yaml": SELECTED}))
    assert line == (
        "patches/node/cp1/70-nic.yaml:1 (cp1): selects the interface that patches/all/20-network.yaml.j2:6 calls eth0:"
        " Talos would take them for two, with the settings of both; write interface: eth0 instead of deviceSelector"
    )


def test_a_second_interface_of_a_bare_machine_may_be_selected(tmp_path: Path) -> None:
    assert found(stack(**BARE_METAL), with_patches(tmp_path, {"node/cp1/70-nic.yaml": SELECTED})) == []


def test_a_selected_interface_with_an_address_of_the_node_network_is_the_named_one(tmp_path: Path) -> None:
    text = SELECTED.replace("mtu: 9000", "addresses: [192.168.1.121/24]")
    (line,) = found(stack(**BARE_METAL), with_patches(tmp_path, {"node/cp1/70-nic.yaml": text}))
    assert "calls enp3s0" in line


def test_one_interface_twice_in_a_list_is_refused(tmp_path: Path) -> None:
    text = (
        "machine:\n  network:\n    interfaces:\n      - interface: eth1\n      - interface: eth1\n        mtu: 9000\n"
    )
    (line,) = found(stack(), with_patches(tmp_path, {"node/w1/70-nic.yaml": text}))
    assert line == (
        "patches/node/w1/70-nic.yaml:5 (w1): interface eth1 appears twice in one list,"
        " first in patches/node/w1/70-nic.yaml:4; make one entry of them"
    )


def test_one_selector_in_two_patches_is_refused(tmp_path: Path) -> None:
    files = {"all/70-nic.yaml": SELECTED, "node/cp1/70-nic.yaml": SELECTED}
    (line,) = found(stack(**BARE_METAL), with_patches(tmp_path, files))
    assert line.startswith("patches/node/cp1/70-nic.yaml:1 (cp1): two entries have the same deviceSelector")


def test_two_entries_of_one_selector_that_complete_each_other_are_followed_both(tmp_path: Path) -> None:
    entry = "machine: {network: {interfaces: [{deviceSelector: {hardwareAddr: 'bc:24:11:aa:00:01'}, %s}]}}\n"
    files = {
        "all/70-nic.yaml": entry % "dhcp: false, addresses: [10.9.0.1/24], vlans: [{vlanId: 5}]",
        "node/cp1/70-nic.yaml": entry % "mtu: 9000, addresses: [10.9.0.2/24], vlans: [{vlanId: 6}]",
    }
    assert found(stack(**BARE_METAL), with_patches(tmp_path, files)) == []
    (line,) = found(
        stack(**BARE_METAL), with_patches(tmp_path, {"node/cp1/71-nic.yaml": entry % "vlans: [{vlanId: 6, mtu: 9000}]"})
    )
    assert "and both set vlans, first in patches/node/cp1/70-nic.yaml:1" in line


def test_a_set_that_several_patches_fill_may_hold_a_name_twice(tmp_path: Path) -> None:
    files = {"controlplane/70-x.yaml": "machine: {certSANs: [192.168.1.121, lb.example.net]}\n"}
    assert found(stack(), with_patches(tmp_path, files)) == []


FOR_CONTROL_PLANES = "cluster: {proxy: {disabled: true}, apiServer: {certSANs: [a.example.net]}}\n"


@pytest.mark.parametrize("level", ["all", "platform/proxmox", "zone/a"])
def test_what_is_for_control_planes_does_no_harm_in_a_level_that_they_have_too(level: str, tmp_path: Path) -> None:
    root = with_patches(tmp_path, {f"{level}/70-x.yaml": FOR_CONTROL_PLANES})
    nodes = [node | {"zone": "a"} for node in raw()["nodes"]]
    assert found(stack(zones={"a": {}}, nodes=nodes), root) == []


@pytest.mark.parametrize("level", ["worker", "node/w1"])
def test_what_is_for_control_planes_in_a_level_of_workers_alone_is_refused(level: str, tmp_path: Path) -> None:
    root = with_patches(tmp_path, {f"{level}/70-x.yaml": FOR_CONTROL_PLANES})
    first, second = found(stack(), root)
    assert (
        f"patches/{level}/70-x.yaml:1 (w1): cluster.apiServer is for control planes, and a worker ignores it" in first
    )
    assert "cluster.proxy is for control planes" in second


def test_a_secret_for_control_planes_is_kept_from_workers(tmp_path: Path) -> None:
    text = "cluster: {inlineManifests: [{name: a, contents: {{ secret('a') | flow }}}]}\n"
    (line,) = found(stack(), with_patches(tmp_path, {"all/70-x.yaml.j2": text}))
    assert line == (
        "patches/all/70-x.yaml.j2:1 (w1): cluster.inlineManifests is for control planes, and this gives a worker the"
        " secret beside it; move it to a patch in controlplane/"
    )


def test_an_interface_that_a_link_document_describes_too_is_refused(tmp_path: Path) -> None:
    text = "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n"
    (line,) = found(stack(), with_patches(tmp_path, {"node/w1/70-nic.yaml": text}))
    assert "LinkConfig eth0 describes an interface that patches/all/20-network.yaml.j2:6 describes too" in line


@pytest.mark.parametrize(
    "text",
    [
        NAMED.replace("192.168.1.121", "192.168.1.77"),
        NAMED.replace("addresses: [192.168.1.121/24]", "vlans: [{vlanId: 5, addresses: [192.168.1.77/24]}]"),
        "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth1\naddresses: [{address: 192.168.1.77/24}]\n",
    ],
)
def test_an_address_that_is_not_the_topologys_is_refused(tmp_path: Path, text: str) -> None:
    (line,) = found(stack(), with_patches(tmp_path, {"node/cp1/70-nic.yaml": text}))
    assert "gives 192.168.1.77/24; the topology says 192.168.1.121; leave it out of the patch" in line


def test_an_address_of_another_network_is_nobodys_business(tmp_path: Path) -> None:
    text = "machine: {network: {interfaces: [{interface: eth1, addresses: [10.9.0.1/24]}]}}\n"
    assert found(stack(), with_patches(tmp_path, {"node/cp1/70-nic.yaml": text})) == []


def test_dhcp_on_the_interface_that_has_the_nodes_address_is_refused(tmp_path: Path) -> None:
    text = "machine: {network: {interfaces: [{interface: eth0, dhcp: true}, {interface: eth1, dhcp: true}]}}\n"
    (line,) = found(stack(), with_patches(tmp_path, {"node/cp1/70-nic.yaml": text}))
    assert "turns on DHCP on eth0, which has 192.168.1.121 from the topology; leave it out" in line


@pytest.mark.parametrize(
    "text",
    [
        "machine: {network: {interfaces: [{interface: eth0, vip: {ip: 192.168.1.120}}]}}\n",
        "machine: {network: {interfaces: [{interface: eth0, vlans: [{vlanId: 1, vip: {ip: 192.168.1.120}}]}]}}\n",
        "apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 192.168.1.120\nlink: eth0\n",
    ],
)
def test_a_vip_on_a_worker_is_refused(tmp_path: Path, text: str) -> None:
    (line,) = (line for line in found(stack(), with_patches(tmp_path, {"all/70-vip.yaml": text})) if "(w1)" in line)
    assert "(w1): gives the VIP 192.168.1.120 to a worker; move it to a patch in controlplane/" in line


def test_a_vip_that_is_not_the_topologys_is_refused(tmp_path: Path) -> None:
    text = "machine: {network: {interfaces: [{interface: eth0, vip: {ip: 192.168.1.99}}]}}\n"
    (line,) = found(stack(), with_patches(tmp_path, {"controlplane/70-vip.yaml": text}))
    assert "gives the VIP 192.168.1.99; the topology says 192.168.1.120" in line


def test_the_host_name_in_machine_is_refused_where_it_is_a_document(tmp_path: Path) -> None:
    text = "machine:\n  network:\n    hostname: cp1\n"
    (line,) = found(stack(), with_patches(tmp_path, {"node/cp1/70-h.yaml": text}))
    assert line == (
        "patches/node/cp1/70-h.yaml:3 (cp1): machine.network.hostname is refused from contract v1.12 on (here v1.13);"
        " leave it out: 10-hostname writes HostnameConfig"
    )


HOSTNAME = 'apiVersion: v1alpha1\nkind: HostnameConfig\nauto: "off"\nhostname: cp1\n'


def test_the_host_name_document_is_refused_where_the_name_stands_in_machine(tmp_path: Path) -> None:
    (line,) = found(stack(versions=OLD), with_patches(tmp_path, {"node/cp1/70-h.yaml": HOSTNAME}))
    assert "HostnameConfig is refused below contract v1.12 (here v1.11)" in line


@pytest.mark.parametrize(
    ("text", "changes"),
    [(HOSTNAME.replace("cp1", "cp9"), {}), ("machine: {network: {hostname: cp9}}\n", {"versions": OLD})],
)
def test_another_host_name_than_the_topologys_is_refused(tmp_path: Path, text: str, changes: dict[str, Any]) -> None:
    (line,) = found(stack(**changes), with_patches(tmp_path, {"node/cp1/70-h.yaml": text}))
    assert "names the machine cp9; the topology calls it cp1" in line


def test_an_automatic_host_name_beside_a_fixed_one_is_refused(tmp_path: Path) -> None:
    text = "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n"
    (line,) = found(stack(), with_patches(tmp_path, {"node/cp1/70-h.yaml": text}))
    assert 'HostnameConfig has auto: stable beside a host name; write auto: "off"' in line


def test_another_installer_than_the_topologys_is_refused(tmp_path: Path) -> None:
    text = "machine: {install: {image: ghcr.io/siderolabs/installer:v1.13.9}}\n"
    (line,) = found(stack(), with_patches(tmp_path, {"node/cp1/70-i.yaml": text}))
    assert (
        "installs ghcr.io/siderolabs/installer:v1.13.9; the topology says factory.talos.dev/nocloud-installer/" in line
    )
    assert "set versions.talos or images.default in the stack file instead" in line


ARGUMENTS = "machine:\n  install:\n    extraKernelArgs: [net.ifnames=0]\n"


def test_kernel_arguments_of_the_installation_are_refused_with_the_schematics_key(tmp_path: Path) -> None:
    lines = found(stack(), with_patches(tmp_path, {"controlplane/70-k.yaml": ARGUMENTS}))
    assert lines == [
        "patches/controlplane/70-k.yaml:3 (cp1): machine.install.extraKernelArgs is refused from contract v1.12 on"
        " (here v1.13); put the arguments into images.default.extraKernelArgs in the stack file"
    ]


def test_kernel_arguments_of_the_installation_are_taken_by_older_contracts(tmp_path: Path) -> None:
    assert found(stack(versions=OLD), with_patches(tmp_path, {"controlplane/70-k.yaml": ARGUMENTS})) == []


def test_kernel_arguments_are_taken_where_grub_makes_the_command_line(tmp_path: Path) -> None:
    patches = with_patches(tmp_path, {"controlplane/70-k.yaml": ARGUMENTS + "    grubUseUKICmdline: false\n"})
    assert found(stack(), patches) == []


LABELS = (
    "machine:\n"
    "  nodeLabels:\n"
    '    node-role.kubernetes.io/worker: ""\n'
    "    topology.kubernetes.io/zone: z1\n"
    '    node.longhorn.io/create-default-disk: "true"\n'
    "    node.kubernetes.io/x: y\n"
    "    plain: y\n"
)


def test_a_label_that_a_worker_may_not_give_itself_is_refused_and_no_other(tmp_path: Path) -> None:
    lines = found(stack(), with_patches(tmp_path, {"worker/70-l.yaml": LABELS}))
    assert lines == [
        "patches/worker/70-l.yaml:3 (w1): a worker may not give itself the label node-role.kubernetes.io/worker;"
        " none of its labels would be set; set it through the Kubernetes API after the node has joined,"
        " or choose another prefix"
    ]


def test_a_taint_on_a_worker_is_refused_with_the_setting_that_works(tmp_path: Path) -> None:
    text = 'machine:\n  nodeTaints:\n    gpu: "true:NoSchedule"\n'
    (line,) = found(stack(), with_patches(tmp_path, {"worker/70-t.yaml": text}))
    assert "a worker may not give itself the taint gpu; use machine.kubelet.extraConfig.registerWithTaints" in line


def test_labels_and_taints_are_free_on_control_planes(tmp_path: Path) -> None:
    text = LABELS + '  nodeTaints: {gpu: "true:NoSchedule"}\n'
    assert found(stack(), with_patches(tmp_path, {"controlplane/70-l.yaml": text})) == []


def test_etcd_on_a_worker_is_refused(tmp_path: Path) -> None:
    text = "cluster:\n  etcd:\n    extraArgs: {a: {$patch: delete}}\n"
    lines = found(stack(), with_patches(tmp_path, {"all/70-e.yaml": text}))
    assert [line for line in lines if "70-e.yaml:2 (w1): a worker has no cluster.etcd" in line]


def test_a_delete_of_the_label_for_everybody_is_no_fault(tmp_path: Path) -> None:
    text = "machine: {nodeLabels: {node.kubernetes.io/exclude-from-external-load-balancers: {$patch: delete}}}\n"
    assert found(stack(allowSchedulingOnControlPlanes=True), with_patches(tmp_path, {"all/70-l.yaml": text})) == []


def test_the_real_value_of_a_secret_is_checked_and_told_by_its_place_alone(tmp_path: Path) -> None:
    text = 'machine: {network: {interfaces: [{interface: eth0, addresses: ["{{ secret("ip") }}/24"]}]}}\n'
    write(tmp_path, {"node/cp1/70-nic.yaml.j2": text})
    assert found(stack(), tmp_path) == []
    patches = [filled(patch, {"ip": "192.168.1.77"}) for patch in rendered(stack(), "cp1", tmp_path)]
    (finding,) = check_patches(stack(), {"cp1": patches})
    assert finding.message == "gives 192.168.1.77/24; the topology says 192.168.1.121"
    assert str(withheld(finding, "is refused")).startswith("patches/node/cp1/70-nic.yaml.j2:1 (cp1): is refused; ")


def test_all_findings_are_said_at_once_in_the_order_of_the_checks(tmp_path: Path) -> None:
    files = {"all/70-a.yaml": "a: [\n", "worker/70-b.yaml": LABELS, "controlplane/70-c.yaml": ARGUMENTS}
    assert len(found(stack(), with_patches(tmp_path, files))) == 3


def test_a_fault_of_many_nodes_names_two_of_them_and_counts_the_rest() -> None:
    nodes = [
        {"name": f"w{i}", "role": "worker", "address": f"192.168.1.{130 + i}", "cores": 2, "memory": 4096}
        for i in range(5)
    ]
    controlplane = {"name": "cp1", "role": "controlplane", "address": "192.168.1.121", "cores": 4, "memory": 8192}
    topology = stack(nodes=[controlplane, *nodes])
    patch = Patch("all/10-a.yaml", "a: [\n")
    (finding,) = check_patches(topology, {node.name: (patch,) for node in topology.nodes})
    assert str(finding.place).endswith("(cp1, w0 and 4 more)")


def test_the_key_of_an_older_encryption_is_asked_for_by_a_patch_and_stands_in_none(tmp_path: Path) -> None:
    asked = 'cluster:\n  aescbcEncryptionSecret: {{ secret("old") | flow }}\n'
    root = with_patches(tmp_path / "a", {"controlplane/77-old.yaml.j2": asked})
    assert found(stack(), root) == []
    whole = [filled(patch, {"old": "hunter2"}) for patch in rendered(stack(), "cp1", root)]
    assert check_patches(stack(), {"cp1": whole}) == ()
    clear = with_patches(tmp_path / "b", {"controlplane/77-old.yaml": "cluster: {aescbcEncryptionSecret: hunter2}\n"})
    (said,) = found(stack(), clear)
    assert 'to go on reading what it has encrypted, ask for it with {{ secret("...") | flow }}' in said
    assert "hunter2" not in said
