"""Each check refuses a good stack that differs in one thing, and says that one thing only."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from machineconfig import PlanError, make_plan
from machineconfig.checks import RULES
from machineconfig.redaction import IN_BUNDLE as SECRETS
from tests.machineconfig.stacks import BARE_METAL, BONDED, OLD, PATCHES, raw, refused_and_warned, write
from topology.platforms import PLATFORMS

ELSEWHERE = {"secret-in-clear", "size", "talos-warns", "talosctl-refuses"}
"""Rules that warn, or need another platform or a program: the tests for them stand below and beside this file."""
BEHIND_A_NAME = {"endpoint": "https://k8s.example.net:6443"}
STACKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "contract-1.11": {"versions": OLD},
    "bare-metal": BARE_METAL,
    "bonded": BONDED,
    "schedulable": {"allowSchedulingOnControlPlanes": True},
    "behind-a-name": BEHIND_A_NAME,
    "mirrored": {"network__registryMirrors": {"docker.io": ["https://mirror.example.net"]}},
    "without-interface": {name: value for name, value in BARE_METAL.items() if name != "network__interface"}
    | {"network__vip": None, **BEHIND_A_NAME},
}
TAINT = {"worker/70-x.yaml": 'machine:\n  nodeTaints:\n    gpu: "true:NoSchedule"\n'}


def faults(folder: Path, files: dict[str, str], **changes: Any) -> tuple[str, ...]:
    return refused_and_warned(folder, files, **changes)[0]


def mutations() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = YAML(typ="safe").load(Path(__file__).with_name("mutations.yaml").read_text())
    return found


@pytest.mark.parametrize("mutation", mutations(), ids=lambda mutation: mutation["rule"])
def test_a_stack_that_differs_in_one_thing_is_told_so_with_that_one_line(
    mutation: dict[str, Any], tmp_path: Path
) -> None:
    changes = STACKS[mutation.get("stack", "plain")]
    before = refused_and_warned(tmp_path, {}, **changes)[1]
    refused, warned = refused_and_warned(tmp_path, mutation["files"], **changes)
    told = warned if mutation.get("warns") else refused
    assert tuple(line for line in told if line not in before) == (mutation["line"],)
    assert not mutation.get("warns") or not refused
    assert mutation["line"].endswith(f" [{mutation['rule']}]")


def test_there_is_a_mutation_for_every_check() -> None:
    assert {mutation["rule"] for mutation in mutations()} | ELSEWHERE == set(RULES)
    assert all(RULES.values()), "each says what must be so"


@pytest.mark.parametrize("name", STACKS)
def test_a_good_stack_has_no_finding(name: str, tmp_path: Path) -> None:
    assert faults(tmp_path, {}, **STACKS[name]) == ()


@pytest.mark.parametrize("file", sorted(PATCHES.parent.glob("Pulumi.*.yaml")), ids=lambda file: file.name)
def test_no_stack_of_the_repo_has_a_finding_in_patches_or_configurations(file: Path) -> None:
    config = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))["config"]
    make_plan(config["talos-stacks:cluster"], patches=PATCHES)


def test_a_configuration_beyond_the_platforms_limit_is_refused_with_its_largest_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PLATFORMS, "proxmox", replace(PLATFORMS["proxmox"], user_data=65_535))
    fits = "cluster:\n  inlineManifests:\n    - {name: big, contents: '" + "x" * 20_000 + "'}\n"
    assert faults(tmp_path, {"controlplane/70-big.yaml": fits}) == ()
    (line,) = faults(tmp_path, {"controlplane/70-big.yaml": fits.replace("x", "x" * 3, 20_000)})
    assert line.startswith("patches/controlplane/70-big.yaml:3 (cp1): has 9")
    assert "bytes as base64, and proxmox takes 65535; the largest: cluster.inlineManifests (60005 bytes)" in line
    assert line.endswith("[size]")


CIDR = {"node/w1/70-x.yaml": "machine: {network: {interfaces: [{interface: eth1, cidr: 10.9.0.1/24}]}}\n"}
WARNING = "patches/node/w1/70-x.yaml:1 (w1): machine.network eth1: cidr is deprecated: use addresses; correct the patch"


def warned(folder: Path, files: dict[str, str], **changes: Any) -> tuple[str, ...]:
    refused, lines = refused_and_warned(folder, files, **changes)
    assert refused == ()
    return lines


def test_what_talos_warns_of_is_a_warning(tmp_path: Path) -> None:
    (line,) = warned(tmp_path, CIDR)
    assert line.startswith(WARNING) and line.endswith("[talos-warns]")


def test_a_warning_is_said_beside_what_is_wrong(tmp_path: Path) -> None:
    root = tmp_path / "patches"
    shutil.copytree(PATCHES, root)
    with pytest.raises(PlanError) as caught:
        make_plan(raw(), patches=write(root, CIDR | TAINT))
    assert len(caught.value.findings) == 1
    assert caught.value.plan and caught.value.plan.warnings[0].startswith(WARNING)


def test_a_warning_can_be_waived(tmp_path: Path) -> None:
    waiver = {"check": "talos-warns", "node": "w1", "reason": "older machines read it too"}
    assert warned(tmp_path, CIDR, waivers=[waiver]) == ()


CLEAR = [
    "machine: {registries: {config: {r.example.net: {auth: {username: talos, password: hunter2}}}}}\n",
    "machine: {registries: {config: {r.example.net: {auth: {identityToken: hunter2}}}}}\n",
    "apiVersion: v1alpha1\nkind: RegistryAuthConfig\nname: r.example.net\nusername: a\npassword: hunter2\n",
    "machine: {network: {interfaces: [{interface: wg0, wireguard: {privateKey: hunter2}}]}}\n",
]


@pytest.mark.parametrize("text", CLEAR)
def test_a_secret_in_clear_is_a_warning_without_its_value(text: str, tmp_path: Path) -> None:
    lines = warned_or_refused(tmp_path, {"worker/70-x.yaml": text})
    (line,) = (line for line in lines if "in clear" in line)
    assert "is in clear text in a file under version control; use {{ secret(" in line
    assert line.endswith("[secret-in-clear]") and "hunter2" not in line


@pytest.mark.parametrize(
    "text",
    [
        CLEAR[0].replace("hunter2", "{{ secret('pw') }}"),
        CLEAR[0].replace("password: hunter2", "password: ''"),
        "cluster: {extraManifests: ['https://example.net/password'], apiServer: {extraArgs: {password: hunter2}}}\n",
        "machine: {sysctls: {net.ipv4.tcp_fastopen_key: 'a'}, nodeAnnotations: {a: password}}\n",
    ],
)
def test_a_secret_that_is_asked_for_is_not_in_clear(text: str, tmp_path: Path) -> None:
    lines = warned_or_refused(tmp_path, {"controlplane/70-x.yaml.j2": text})
    assert not [line for line in lines if "in clear" in line]


def test_one_secret_in_clear_beside_one_that_is_asked_for_is_a_warning(tmp_path: Path) -> None:
    text = CLEAR[0].replace("talos", "{{ secret('user') }}")
    lines = warned_or_refused(tmp_path, {"worker/70-x.yaml.j2": text})
    (line,) = (line for line in lines if "in clear" in line)
    assert (
        "(w1): machine.registries.config.r.example.net.auth.password is in clear text" in line and "hunter2" not in line
    )


def test_a_secret_in_clear_can_be_waived(tmp_path: Path) -> None:
    waiver = {"check": "secret-in-clear", "reason": "everybody knows it"}
    assert warned(tmp_path, {"worker/70-x.yaml": CLEAR[0]}, waivers=[waiver]) == ()


def warned_or_refused(folder: Path, files: dict[str, str]) -> tuple[str, ...]:
    return refused_and_warned(folder, files)[1]


def test_a_finding_is_waived_by_check_with_a_reason(tmp_path: Path) -> None:
    waiver = {"check": "worker-taint", "reason": "the cloud controller takes it away"}
    assert faults(tmp_path, TAINT, waivers=[waiver]) == ()
    assert faults(tmp_path, TAINT, waivers=[waiver | {"node": "w1"}]) == ()


def test_a_waiver_of_another_node_waives_nothing_and_says_so(tmp_path: Path) -> None:
    waiver = {"check": "worker-taint", "node": "cp1", "reason": "x"}
    first, second = faults(tmp_path, TAINT, waivers=[waiver])
    assert first == "waivers[0].check: worker-taint waives no finding of cp1; take the waiver out"
    assert second.endswith("[worker-taint]")


def test_a_waiver_that_is_not_needed_is_a_fault(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, {}, waivers=[{"check": "list-doubles", "reason": "x"}])
    assert line == "waivers[0].check: list-doubles waives no finding; take the waiver out"


def test_a_waiver_of_no_check_is_a_fault_with_the_near_one(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, {}, waivers=[{"check": "list-double", "reason": "x"}])
    assert line == "waivers[0].check: list-double is not the id of a check; write list-doubles"


def test_faults_of_templates_cannot_be_waived(tmp_path: Path) -> None:
    files = {"worker/70-x.yaml.j2": "machine: {env: {A: '{{ node.nothing }}'}}\n"}
    (line,) = faults(tmp_path, files, waivers=[{"check": "list-doubles", "reason": "x"}])
    assert line.startswith("patches/worker/70-x.yaml.j2:1 (w1): node has no nothing")


def test_what_is_wrong_with_patches_and_with_configurations_is_said_at_once(tmp_path: Path) -> None:
    files = {
        "worker/70-x.yaml": "cluster:\n  apiServer: {certSANs: [a.example.net]}\n",
        "controlplane/70-y.yaml": "cluster:\n  network:\n    cni: {name: none, urls: [https://example.net/a.yaml]}\n",
        "controlplane/71-z.yaml": "cluster:\n  etcd:\n    listenSubnets: [192.168.1.0/24]\n",
    }
    rules = [line.rpartition("[")[2] for line in faults(tmp_path, files)]
    assert rules == ["control-plane-only]", "talos-refuses]", "etcd-subnets]"]


def test_a_fault_in_the_rendering_of_one_node_hides_nothing_of_the_others(tmp_path: Path) -> None:
    files = {
        "node/cp1/70-x.yaml.j2": "machine: {env: {A: '{{ node.nothing }}'}}\n",
        "node/w1/70-x.yaml": 'machine:\n  nodeTaints:\n    gpu: "true:NoSchedule"\n',
        "all/notes.txt": "",
        "workers/70-x.yaml": "",
    }
    said = faults(tmp_path, files)
    assert [line.partition(" ")[0] for line in said] == [
        "patches/workers:",
        "patches/all/notes.txt:",
        "patches/node/cp1/70-x.yaml.j2:1",
        "patches/node/w1/70-x.yaml:3",
    ]


def test_a_file_that_lies_about_hides_nothing(tmp_path: Path) -> None:
    first, second = faults(tmp_path, {**TAINT, "all/notes.txt": ""})
    assert "notes.txt is not the name of a patch" in first and second.endswith("[worker-taint]")


@pytest.mark.parametrize("value", ['{{ secret("pw") }}', "{{ secret('pw') }}", "{% for a in b %}"])
def test_a_template_in_a_plain_file_is_said_first_whatever_yaml_makes_of_it(value: str, tmp_path: Path) -> None:
    text = f"machine:\n  sysctls:\n    kernel.x: {value}\n"
    first = faults(tmp_path, {"all/70-x.yaml": text})[0]
    assert first.startswith("patches/all/70-x.yaml:3 (cp1, w1): is written as a template")


def test_a_text_in_braces_of_another_language_is_no_template(tmp_path: Path) -> None:
    text = "machine: {env: {A: '{{ .Values.node.name }} {{ nodename }} {{ secrets }}'}}\n"
    assert faults(tmp_path, {"all/70-x.yaml": text}) == ()


def test_a_secret_of_any_kind_makes_no_finding_while_nobody_knows_it(tmp_path: Path) -> None:
    files = {
        "worker/70-x.yaml.j2": (
            "machine:\n"
            "  network:\n"
            "    nameservers: [{{ secret('server') | flow }}]\n"
            "    interfaces:\n"
            "      - interface: wg0\n"
            "        mtu: {{ secret('mtu') }}\n"
            "  registries:\n"
            "    config:\n"
            "      r.example.net: {tls: {ca: {{ secret('ca') | flow }}}}\n"
        )
    }
    assert faults(tmp_path, files) == ()


def test_a_patch_may_repeat_what_the_topology_says_in_another_spelling(tmp_path: Path) -> None:
    files = {
        "node/cp1/70-x.yaml": (
            "machine: {type: controlplane}\n"
            "cluster:\n"
            "  clusterName: homelab\n"
            "  controlPlane: {endpoint: 'https://192.168.1.120:6443/'}\n"
            "  network: {podSubnets: [10.244.0.0/16], cni: {name: custom, urls: [https://example.net/a.yaml]}}\n"
            "  apiServer: {image: 'registry.example.net/kube-apiserver:v1.36.2'}\n"
        )
    }
    assert faults(tmp_path, files) == ()


def test_what_is_overridden_in_a_wide_level_and_set_right_in_a_narrower_one_is_no_finding(tmp_path: Path) -> None:
    files = {"all/29-x.yaml": "cluster: {network: {dnsDomain: example.net}}\n"}
    assert faults(tmp_path, files) == ()


def test_a_waived_override_lets_talos_itself_speak(tmp_path: Path) -> None:
    files = {"worker/70-x.yaml": "machine: {kubelet: {image: 'ghcr.io/siderolabs/kubelet:v1.20.0'}}\n"}
    waiver = {"check": "topology-owned", "reason": "x"}
    (line,) = faults(tmp_path, files, waivers=[waiver])
    assert "machine.kubelet.image: Talos 1.13 runs Kubernetes 1.31 to 1.36, not 1.20;" in line


def test_a_password_in_an_overriding_url_is_not_shown(tmp_path: Path) -> None:
    proxy = {"http": "http://proxy.example.net:3128"}
    files = {"worker/70-x.yaml": "machine: {env: {http_proxy: 'http://user:hunter2@p.example.net:3128'}}\n"}
    (line,) = faults(tmp_path, files, network__proxy=proxy)
    assert "machine.env.http_proxy is another value; the topology says http://proxy.example.net:3128;" in line
    assert "hunter2" not in line


@pytest.mark.parametrize("value", ["hunter2", "{a: hunter2}", "[hunter2]", "{$patch: delete}"])
@pytest.mark.parametrize("place", SECRETS, ids=".".join)
def test_a_machine_secret_in_a_patch_is_refused_without_its_value(
    place: tuple[str, ...], value: str, tmp_path: Path
) -> None:
    text = "".join(f"{'  ' * depth}{key}:\n" for depth, key in enumerate(place)).rstrip() + f" {value}\n"
    said = "\n".join(faults(tmp_path, {"controlplane/70-x.yaml": text}))
    assert f"{'.'.join(place)} is a machine secret" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    "operation",
    [
        "{op: replace, path: /cluster/secret, value: hunter2}",
        "{op: add, path: /cluster, value: {secret: hunter2}}",
        "{op: remove, path: /cluster/secret}",
        "{op: move, from: /cluster/secret, path: /cluster/x}",
    ],
)
def test_a_machine_secret_in_an_operation_is_refused_without_its_value(operation: str, tmp_path: Path) -> None:
    said = "\n".join(faults(tmp_path, {"all/70-x.yaml": f"- {operation}\n"}, versions=OLD))
    assert "patches/all/70-x.yaml:1 (cp1, w1): cluster.secret is a machine secret" in said
    assert "hunter2" not in said


def test_an_operation_elsewhere_is_no_machine_secret(tmp_path: Path) -> None:
    text = (
        "- {op: add, path: /machine/sysctls, value: {token: a}}\n- {op: test, path: /cluster/clusterName, value: x}\n"
    )
    assert "machine secret" not in "\n".join(faults(tmp_path, {"all/70-x.yaml": text}, versions=OLD))


def test_more_authorities_may_be_accepted_in_a_patch(tmp_path: Path) -> None:
    text = "machine: {acceptedCAs: [{crt: aHVudGVyMg==}]}\ncluster: {acceptedCAs: [{crt: aHVudGVyMg==}]}\n"
    assert faults(tmp_path, {"all/70-x.yaml": text}) == ()
