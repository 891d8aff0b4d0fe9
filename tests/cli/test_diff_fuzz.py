"""Secrets at places and in forms that nobody thought of: whatever is compared, no part of one is printed."""

import random

import pytest

from tests.cli.conftest import Run
from tests.cli.fleet import Fleet

WORD = "correcthorse"
FORMS = ("", " ~ 'x'", " | default('y')", " | string")
"""What a template makes of a secret."""
PLACES = [
    'machine: {{sysctls: {{a: "{}"}}}}\n',
    'machine: {{nodeAnnotations: {{a: "{}", b: plain}}}}\n',
    'machine: {{env: {{A: "{}", B: plain}}}}\n',
    'machine: {{kubelet: {{extraArgs: {{a: "{}", v: "3"}}}}}}\n',
    'machine: {{kubelet: {{extraConfig: {{a: ["x", "{}"]}}}}}}\n',
    'machine: {{files: [{{path: /var/x, op: create, permissions: 0o600, content: "{}"}}]}}\n',
    'machine: {{certSANs: ["{}.example"], time: {{servers: ["{}.example"]}}}}\n',
    'machine: {{registries: {{mirrors: {{docker.io: {{endpoints: ["https://m.example/{}"]}}}}}}}}\n',
    'machine: {{registries: {{config: {{a.example: {{auth: {{username: "{}", password: "{}"}}}}}}}}}}\n',
    'machine: {{udev: {{rules: ["X=={}", "Y"]}}}}\n',
    'machine: {{pods: [{{apiVersion: v1, kind: Pod, metadata: {{name: "{}"}}}}]}}\n',
    'machine: {{kernel: {{modules: [{{name: a, parameters: ["{}"]}}]}}}}\n',
    'machine: {{network: {{extraHostEntries: [{{ip: 10.0.0.1, aliases: ["{}.example"]}}]}}}}\n',
    'cluster: {{inlineManifests: [{{name: a, contents: "x: {}"}}]}}\n',
    'cluster: {{extraManifests: ["https://a.example/{}", "https://b.example"]}}\n',
    'cluster: {{apiServer: {{env: {{X: "{}"}}, extraArgs: {{b: "{}"}}}}}}\n',
    'apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: a\nenvironment: ["A={}"]\n',
    'apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: a\nconfigFiles: [{{content: "{}", mountPath: /x}}]\n',
    'apiVersion: v1alpha1\nkind: EnvironmentConfig\nvariables: {{A: "{}"}}\n',
    'apiVersion: v1alpha1\nkind: RegistryAuthConfig\nname: r.example\nusername: a\npassword: "{}"\n',
]


@pytest.mark.parametrize("seed", range(16))
def test_no_part_of_a_secret_is_printed(seed: int, run: Run, fleet: Fleet) -> None:
    chosen = random.Random(seed)
    forms = chosen.sample(FORMS, 2)
    old, new = (
        place.format(*[f'{{{{ secret("pw"){form} }}}}'] * 2)
        for place, form in zip(chosen.sample(PLACES, 2), forms, strict=True)
    )
    patch = fleet.checkout / "patches/controlplane/71-own.yaml.j2"

    def compare(*arguments: str) -> None:
        _, out, err = run("diff", *arguments, "--output", chosen.choice(["text", "json"]))
        said = (out + err).casefold()
        assert not any(WORD[at : at + 5] in said for at in range(len(WORD) - 4)), (old, new, arguments, out)

    def against_machines() -> None:
        compare("--node", "lab-controlplane-01")
        compare("--node", "lab-controlplane-01", "--talosconfig", "talosconfig")

    fleet.secrets["pw"] = WORD
    for name, text in {"a": old, "b": new, "c": "machine: {sysctls: {b: plain}}\n"}.items():
        patch.write_text(text)
        if name == "a":
            fleet.apply()
        assert run("render", "--stack", "lab", "--show-secrets", "--out", name)[0] == 0
        against_machines()
    for left, right in ("ab", "ba", "bc", "ca"):
        compare("--from", left, "--to", right)
    fleet.secrets["pw"] = "quite-another"
    patch.write_text(old)
    against_machines()
    fleet.secrets.clear()
    patch.unlink()
    against_machines()
