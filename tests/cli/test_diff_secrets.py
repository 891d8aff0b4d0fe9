"""`diff` shows a value when it is known to come from no secret, and no other."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.fleet import Fleet

SECRET = "correcthorse"
QUOTED = 'battery"staple\\x'
PATCH = Path("patches/controlplane/71-own.yaml.j2")
NODE = ("--node", "lab-controlplane-01")


def said(run: Run, *arguments: str) -> str:
    """What diff says as text and as JSON; no part of a secret is in it."""
    texts = []
    for output in ("text", "json"):
        code, out, err = run("diff", *arguments, "--output", output)
        assert code == 2, err
        for secret in (SECRET, SECRET.upper(), SECRET[:6], SECRET[3:9], "battery", "staple"):
            assert secret not in out + err, out
        texts.append(out)
    return texts[0]


def changes(run: Run, *arguments: str) -> dict[str, dict[str, object]]:
    _, out, _ = run("diff", *arguments, "--output", "json")
    (node,) = json.loads(out)["nodes"]
    return {change["path"]: change for change in node["changes"]}


@pytest.fixture
def live(fleet: Fleet) -> Fleet:
    """Machines with secrets at places that nobody would take for one."""
    fleet.secrets |= {"pw": SECRET, "quoted": QUOTED}
    return fleet


def apply(fleet: Fleet, text: str) -> None:
    (fleet.checkout / PATCH).write_text(text)
    fleet.apply()


SECRETS = [
    'machine: {sysctls: {plain: {{ secret("pw") | flow }}}}\n',
    'machine: {sysctls: {plain: {{ ("user-" ~ secret("pw")) | flow }}}}\n',
    'machine: {sysctls: {plain: "x{{ secret("quoted") }}y"}}\n',
    'machine: {env: {DBPASS: {{ secret("pw") | flow }}}}\n',
    "machine: {nodeAnnotations: {j: {{ {'a': secret(\"quoted\")} | flow | flow }}}}\n",
    'machine: {registries: {config: {r.example: {auth: {username: a, password: {{ secret("pw") | flow }}}}}}}\n',
    'machine: {kubelet: {extraArgs: {v: "token={{ secret("pw") }}"}}}\n',
    'machine: {kubelet: {extraArgs: {some-arg: {{ [secret("pw"), "x"] | join(",") | flow }}}}}\n',
    'machine: {files: [{path: /var/x, op: create, permissions: 0o600, content: {{ secret("pw") | flow }}}]}\n',
    'machine: {certSANs: ["{{ secret("pw") }}.example"], time: {servers: ["{{ secret("pw") }}.example"]}}\n',
    'cluster: {extraManifests: ["https://m.example/?t={{ secret("pw") }}"]}\n',
]


KEY = 'machine: {nodeLabels: { {{ secret("pw") }}: "yes", other: "1"}}\n'
NAME = """apiVersion: v1alpha1
kind: ExtensionServiceConfig
name: {{ secret("pw") }}
environment: [A=1]
"""


@pytest.mark.parametrize("patch", SECRETS)
def test_a_patch_with_a_secret_that_is_gone(patch: str, run: Run, live: Fleet) -> None:
    apply(live, patch)
    (live.checkout / PATCH).unlink()
    assert "lab-controlplane-01: " in said(run, *NODE)
    assert "lab-controlplane-01: " in said(run, *NODE, "--talosconfig", "talosconfig")
    live.secrets.clear()  # and the value with it
    assert "lab-controlplane-01: " in said(run, *NODE)


def test_a_secret_that_was_a_key_or_a_name(run: Run, live: Fleet) -> None:
    for patch, expected in {KEY: "machine.nodeLabels (secret)", NAME: "ExtensionServiceConfig/(secret"}.items():
        apply(live, patch)
        (live.checkout / PATCH).unlink()
        assert expected in said(run, *NODE)


@pytest.mark.parametrize("patch", [*SECRETS, KEY, NAME])
def test_a_patch_with_a_secret_that_is_new(patch: str, run: Run, live: Fleet) -> None:
    live.apply()
    (live.checkout / PATCH).write_text(patch)
    assert "lab-controlplane-01: " in said(run, *NODE) and "(secret)" in said(run, *NODE)


@pytest.mark.parametrize("patch", [*SECRETS, KEY, NAME])
def test_a_secret_that_is_another_now(patch: str, run: Run, live: Fleet) -> None:
    apply(live, patch)
    live.secrets |= {"pw": "new-value-of-it", "quoted": "another"}
    assert "(secret)" in said(run, *NODE)
    assert run("diff", *NODE, "--talosconfig", "talosconfig")[:2] == (0, "no difference (1 nodes)\n")


@pytest.mark.parametrize("patch", [*SECRETS, KEY, NAME])
def test_renderings_that_show_secrets(patch: str, run: Run, live: Fleet) -> None:
    assert run("render", "--stack", "lab", "--show-secrets", "--out", "a")[0] == 0
    (live.checkout / PATCH).write_text(patch)
    assert run("render", "--stack", "lab", "--show-secrets", "--out", "b")[0] == 0
    live.secrets |= {"pw": "new-value-of-it", "quoted": "another"}
    assert run("render", "--stack", "lab", "--show-secrets", "--out", "c")[0] == 0
    for old, new in ("ab", "ba", "bc"):
        out = said(run, *NODE, "--from", old, "--to", new)
        assert "new-value" not in out and "another" not in out.replace("another order", "")


def test_a_list_with_a_secret_that_grows(run: Run, live: Fleet) -> None:
    manifests = 'cluster: {{extraManifests: ["https://m.example/?t={{{{ secret("pw") }}}}"{}]}}\n'
    apply(live, manifests.format(""))
    (live.checkout / PATCH).write_text(manifests.format(', "https://n.example"'))
    assert "+ cluster.extraManifests[1]: https://n.example" in said(run, *NODE)
    assert "+ cluster.extraManifests[1]: https://n.example" in said(run, *NODE, "--talosconfig", "talosconfig")
    live.secrets["pw"] = "other"
    out = said(run, *NODE)
    assert "- cluster.extraManifests[0] (secret)" in out and ": https://n.example " in out


def test_a_secret_that_is_a_number(run: Run, live: Fleet) -> None:
    live.secrets["pw"] = "7302941856"
    apply(live, 'machine: {sysctls: {a: "{{ secret("pw") }}", b: "{{ secret("pw") }}7"}}\n')
    (live.checkout / PATCH).write_text("machine: {sysctls: {a: '1'}}\n")
    found = changes(run, *NODE)
    assert "old" not in found["machine.sysctls.a"] and "old" not in found["machine.sysctls.b"]
    assert found["machine.sysctls.a"]["new"] == "1"


def test_a_template_that_looks_into_a_secret_is_refused(run: Run, live: Fleet) -> None:
    live.apply()
    (live.checkout / PATCH).write_text("machine: {sysctls: {a: \"{{ {'40960': secret('pw')}[secret('pw')] }}\"}}\n")
    code, out, err = run("diff", *NODE)
    assert (code, out) == (1, "") and "looks into the value of a secret or changes it" in err and SECRET not in err


ORDINARY = """machine:
  sysctls: {vm.max_map_count: "262144"}
  kubelet: {image: ghcr.io/siderolabs/kubelet:v1.36.1, extraArgs: {v: "2"}}
  certSANs: [own.example.org, 10.1.2.3]
  nodeLabels: {tier: gold}
"""


def test_ordinary_values_of_a_machine_are_shown(run: Run, live: Fleet) -> None:
    live.apply()
    text = (live.checkout / "Pulumi.lab.yaml").read_text()
    name = "lab-controlplane-01"
    live.texts[name] = live.texts[name].replace("clusterName: lab", "clusterName: before")
    (live.checkout / "Pulumi.lab.yaml").write_text(text)
    live.texts[name] = live.texts[name].replace("127.0.10.11", "127.0.10.99")
    found = changes(run, *NODE)
    assert found["cluster.clusterName"] | {"cause": ""} == {
        "path": "cluster.clusterName",
        "kind": "changed",
        "secret": False,
        "old": "before",
        "new": "lab",
        "cause": "",
    }
    certificate = found["machine.certSANs[0]"]
    assert certificate["new"] == "127.0.10.11" and "old" not in certificate, "free text of a machine may be a secret"


def test_what_a_patch_set_and_no_longer_sets(run: Run, live: Fleet) -> None:
    apply(
        live,
        ORDINARY.replace("  kubelet: {image: ghcr.io/siderolabs/kubelet:v1.36.1, extraArgs", "  kubelet: {extraArgs"),
    )
    (live.checkout / PATCH).write_text("machine: {nodeLabels: {tier: silver}}\n")
    out = said(run, *NODE)
    assert '- machine.sysctls["vm.max_map_count"] (not shown)  no file sets it' in out
    assert "- machine.kubelet.extraArgs.v (not shown)" in out
    assert "- machine.certSANs[1] (not shown)" in out and "- machine.certSANs[2] (not shown)" in out
    assert "~ machine.nodeLabels.tier: (not shown) -> silver" in out


def test_between_files_everything_plain_is_shown(run: Run, checkout: Path) -> None:
    (checkout / PATCH).write_text("machine: {nodeLabels: {tier: gold}, env: {no_proxy: a.example}}\n")
    assert run("render", "--stack", "lab", "--out", "a")[0] == 0
    (checkout / PATCH).write_text("machine: {nodeLabels: {tier: silver}}\n")
    assert run("render", "--stack", "lab", "--out", "b")[0] == 0
    _, out, _ = run("diff", *NODE, "--from", "a", "--to", "b")
    assert "~ machine.nodeLabels.tier: gold -> silver" in out and "- machine.env.no_proxy: a.example" in out
