"""The state of a stack through a pulumi that is a script: what is read, and what is said when nothing can be."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from cli import state
from cli.errors import CliError
from cli.stackfile import read
from machinery import Bundle, KeyPair, client_certificate, generate_secrets

SIGNATURE = "4dabf18193072939515e22adb298388d"


def secret(value: Any) -> dict[str, str]:
    return {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "plaintext": json.dumps(value)}


def pair(of: KeyPair) -> dict[str, Any]:
    return {
        "cert": base64.b64encode(of.crt.encode()).decode(),
        "key": secret(base64.b64encode(of.key.encode()).decode()),
    }


def exported(bundle: Bundle, client: KeyPair) -> dict[str, Any]:
    """A state as the engine exports it, with one key spelled as plugins of old spell it."""
    outputs = {
        "machineSecrets": {
            "cluster": {"id": bundle.cluster_id, "secret": secret(bundle.cluster_secret)},
            "secrets": secret(
                {
                    "bootstrap_token": bundle.bootstrap_token,
                    "secretboxEncryptionSecret": bundle.secretbox_encryption_secret,
                }
            ),
            "trustdinfo": {"token": secret(bundle.trustd_token)},
            "certs": {
                "etcd": pair(bundle.etcd),
                "k8s": pair(bundle.k8s),
                "k8sAggregator": pair(bundle.k8s_aggregator),
                "k8sServiceaccount": {
                    "key": secret(base64.b64encode(bundle.k8s_service_account.key.encode()).decode())
                },
                "os": pair(bundle.os),
            },
        },
        "clientConfiguration": {
            "caCertificate": base64.b64encode(bundle.os.crt.encode()).decode(),
            "clientCertificate": base64.b64encode(client.crt.encode()).decode(),
            "clientKey": secret(base64.b64encode(client.key.encode()).decode()),
        },
    }
    resources = [
        {"type": "pulumi:pulumi:Stack"},
        {"type": "talos:machine/secrets:Secrets", "delete": True, "outputs": {"machineSecrets": {}}},
        {"type": "talos:machine/secrets:Secrets", "outputs": outputs},
    ]
    return {"version": 3, "deployment": {"resources": resources}}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for what pulumi prints; it writes its arguments down there."""
    folder = tmp_path / "engine"
    folder.mkdir()
    script = folder / "pulumi"
    script.write_text(
        f"""#!/bin/sh
cd {folder}
[ "$1" = version ] && echo v3.274.1 && exit
echo "$@" >> arguments
[ -e fails ] && cat fails >&2 && exit 1
cat "$1"
"""
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def test_secrets_and_credentials_come_from_the_state(engine: Path, checkout: Path) -> None:
    bundle = generate_secrets("v1.6")
    client = client_certificate(bundle.os)
    (engine / "stack").write_text(json.dumps(exported(bundle, client)))
    config = {
        "talos-stacks:own": {"value": "hunter2", "secret": True},
        "talos-stacks:plain": {"value": "x", "secret": False},
    }
    (engine / "config").write_text(f"warning: something\n{json.dumps(config)}\n")
    found = state.read(read("lab", checkout))
    assert found.bundle == bundle
    assert found.credentials.crt == client.crt.encode() and found.credentials.key == client.key.encode()
    assert dict(found.config) == {"own": "hunter2"}
    assert "hunter2" not in repr(found) and bundle.trustd_token not in repr(found)
    assert (engine / "arguments").read_text().splitlines() == [
        "stack export --show-secrets --stack lab --non-interactive",
        "config --show-secrets --json --stack lab --non-interactive",
    ]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("error: no stack named 'lab' found", "has no state here: bring it up with `make up STACK=lab`"),
        ("error: getting stack: incorrect passphrase", "the passphrase is wrong"),
        ("error: passphrase must be set with PULUMI_CONFIG_PASSPHRASE", "set PULUMI_CONFIG_PASSPHRASE"),
        ("warning: a\nerror: the backend is on fire\nmore", "did not return the state of lab: the backend is on fire"),
        ("\n", "it did not say why"),
    ],
)
def test_what_the_engine_says_becomes_one_sentence(said: str, message: str, engine: Path, checkout: Path) -> None:
    (engine / "fails").write_text(said)
    with pytest.raises(CliError) as caught:
        state.read(read("lab", checkout))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_state_that_a_lab_has_is_looked_for_inside(
    engine: Path, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (engine / "fails").write_text("error: PULUMI_ACCESS_TOKEN must be set")
    for name in ("LAB_HOME", "LAB_STACK"):
        monkeypatch.delenv(name, raising=False)

    def said() -> str:
        with pytest.raises(CliError) as caught:
            state.read(read("lab", checkout))
        return str(caught.value)

    outside = said()
    for home in (checkout / ".lab", tmp_path / "elsewhere"):
        (home / "lab").mkdir(parents=True)
        noted = home / "lab" / "run.json"
        noted.write_text('{"pid": 1}')
        assert said() == (
            f"{outside}. A lab of lab is up and has a state of its own: for that one, run this in"
            " `make lab-shell STACK=lab`, or after `.venv/bin/python -m lab run lab --`"
        )
        noted.write_text('{"pid": 1, "ending": true}')
        assert said() == outside
        for other in ("[]", '{"pid": "1"}', '{"pid": 99999999}'):
            noted.write_text(other)
            assert said() == outside
        monkeypatch.setenv("LAB_HOME", str(tmp_path / "elsewhere"))
    noted.write_text('{"pid": 1}')
    monkeypatch.setenv("LAB_STACK", "lab")
    assert said() == outside


@pytest.mark.parametrize("text", ["", "hunter2", "{}", '{"deployment": null}', '{"deployment": {"resources": []}}'])
def test_a_state_without_secrets_is_said(text: str, engine: Path, checkout: Path) -> None:
    (engine / "stack").write_text(text)
    with pytest.raises(CliError) as caught:
        state.read(read("lab", checkout))
    assert "hunter2" not in str(caught.value)


def test_secrets_that_are_broken_are_said_without_them(engine: Path, checkout: Path) -> None:
    bundle = generate_secrets("v1.6")
    found = exported(bundle, client_certificate(bundle.os))
    found["deployment"]["resources"][2]["outputs"]["machineSecrets"]["certs"]["os"]["key"] = "hunter2!"
    (engine / "stack").write_text(json.dumps(found))
    with pytest.raises(CliError, match="cannot be read") as caught:
        state.read(read("lab", checkout))
    assert "hunter2" not in str(caught.value)
