"""What the Talos stand-in does without a machine: secrets and configurations."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml

from lab.standin.talos import bundle
from lab.standin.talos.provider import Talos
from machinery import (
    Bundle,
    GenerateArgs,
    KeyPair,
    client_certificate,
    generate_configuration,
    generate_secrets,
    read_secrets_yaml,
)
from machinery.secrets import to_properties
from tests.lab.standin.plugin import Plugin, served

SECRETS = "talos:machine/secrets:Secrets"
GET_CONFIGURATION = "talos:machine/getConfiguration:getConfiguration"


@pytest.fixture
async def plugin() -> AsyncIterator[Plugin]:
    async with served(Talos()) as plugin:
        yield plugin


@pytest.fixture(scope="module")
def secrets() -> Bundle:
    return generate_secrets("v1.6")


def secrets_yaml(secrets: Bundle, encryption: str = "secretboxencryptionsecret") -> str:
    def pair(pair: KeyPair) -> dict[str, str]:
        return {"crt": bundle.encoded(pair.crt), "key": bundle.encoded(pair.key)}

    return yaml.safe_dump(
        {
            "cluster": {"id": secrets.cluster_id, "secret": secrets.cluster_secret},
            "secrets": {"bootstraptoken": secrets.bootstrap_token, encryption: secrets.secretbox_encryption_secret},
            "trustdinfo": {"token": secrets.trustd_token},
            "certs": {
                "etcd": pair(secrets.etcd),
                "k8s": pair(secrets.k8s),
                "k8saggregator": pair(secrets.k8s_aggregator),
                "k8sserviceaccount": {"key": bundle.encoded(secrets.k8s_service_account.key)},
                "os": pair(secrets.os),
            },
        }
    )


async def test_a_secrets_file_is_imported_under_the_one_id_and_version(
    plugin: Plugin, secrets: Bundle, tmp_path: Path
) -> None:
    file = tmp_path / "secrets.yaml"
    file.write_text(secrets_yaml(secrets))
    answer = await plugin.read(SECRETS, str(file), {})
    fields = answer.properties.fields
    assert answer.id == "machine_secrets"
    assert fields["id"].string_value == "machine_secrets"
    assert fields["talosVersion"].string_value == "v1.3"
    assert answer.inputs.fields["talosVersion"].string_value == "v1.3"
    file.write_text(secrets_yaml(secrets, "aescbcencryptionsecret"))
    older = await plugin.read(SECRETS, str(file), {})
    assert older.properties.fields["talosVersion"].string_value == "v1.2"
    assert read_secrets_yaml(secrets_yaml(secrets)) == secrets
    assert bundle.from_properties(to_properties(secrets)) == secrets


@pytest.mark.parametrize(
    ("text", "told"),
    [(None, "No such file or directory"), ("cluster: {}", "cluster.id is missing"), ("a: [", "failed to unmarshal")],
)
async def test_a_secrets_file_that_is_none_is_refused(
    plugin: Plugin, tmp_path: Path, text: str | None, told: str
) -> None:
    file = tmp_path / "secrets.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await plugin.read(SECRETS, str(file), {})
    assert told in str(caught.value.details())


async def test_refresh_and_update_keep_the_secrets(plugin: Plugin, secrets: Bundle) -> None:
    state = {
        "talosVersion": "v1.12",
        "machineSecrets": to_properties(secrets),
        "clientConfiguration": bundle.client_configuration(secrets),
    }
    assert (await plugin.read(SECRETS, "machine_secrets", state)).id == "machine_secrets"
    changed = await plugin.update(SECRETS, "machine_secrets", state, {"talosVersion": "v1.13"})
    assert changed["talosVersion"] == "v1.13"
    assert (changed["machineSecrets"], changed["clientConfiguration"]) == (
        state["machineSecrets"],
        state["clientConfiguration"],
    )


async def test_a_client_certificate_is_renewed_in_its_last_month(plugin: Plugin, secrets: Bundle) -> None:
    soon = client_certificate(secrets.os, lifetime=timedelta(days=20), now=datetime.now(UTC))
    identity = bundle.client_configuration(secrets) | {
        "clientCertificate": bundle.encoded(soon.crt),
        "clientKey": bundle.encoded(soon.key),
    }
    state = {
        "talosVersion": "v1.13",
        "machineSecrets": to_properties(secrets),
        "clientConfiguration": identity,
    }
    answer = await plugin.diff(SECRETS, state, {"talosVersion": "v1.13"})
    assert (list(answer.diffs), list(answer.replaces)) == (["clientConfiguration"], [])
    changed = await plugin.update(SECRETS, "machine_secrets", state, {"talosVersion": "v1.13"})
    assert changed["clientConfiguration"]["clientCertificate"] != identity["clientCertificate"]
    assert changed["clientConfiguration"]["caCertificate"] == identity["caCertificate"]


def arguments(secrets: Bundle, **changes: Any) -> dict[str, Any]:
    return {
        "clusterName": "demo",
        "clusterEndpoint": "https://10.5.0.5:6443",
        "machineType": "worker",
        "machineSecrets": to_properties(secrets),
        **changes,
    }


async def test_a_configuration_is_what_the_machinery_generates(plugin: Plugin, secrets: Bundle) -> None:
    answer, failures = await plugin.invoke(GET_CONFIGURATION, arguments(secrets))
    assert failures == []
    expected = generate_configuration(GenerateArgs("demo", "https://10.5.0.5:6443", "worker", secrets))
    assert answer["machineConfiguration"] == expected
    assert (answer["id"], answer["talosVersion"], answer["kubernetesVersion"]) == ("demo", "v1.13", "1.36.0")


async def test_nested_keys_that_were_not_translated_fail(plugin: Plugin, secrets: Bundle) -> None:
    args = arguments(secrets)
    args["machineSecrets"]["secrets"] = {"bootstrap_token": "a", "secretbox_encryption_secret": "b"}
    _, failures = await plugin.invoke(GET_CONFIGURATION, args)
    assert "missing required property machineSecrets.secrets.bootstrapToken" in {reason for _, reason in failures}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"configPatches": [""]}, "config_patches[0]"),
        ({"configPatches": ["# nothing\n"]}, "a JSON patch"),
        ({"clusterEndpoint": "10.5.0.5:6443"}, "cluster_endpoint is invalid"),
        ({"talosVersion": "latest"}, "not a Talos version"),
    ],
)
async def test_a_faulty_configuration_fails_with_the_reason(
    plugin: Plugin, secrets: Bundle, change: dict[str, Any], told: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await plugin.invoke(GET_CONFIGURATION, arguments(secrets, **change))
    assert told in str(caught.value.details())


async def test_a_wrong_machine_type_is_a_failure_of_its_argument(plugin: Plugin, secrets: Bundle) -> None:
    _, failures = await plugin.invoke(GET_CONFIGURATION, arguments(secrets, machineType="master", clusterName=""))
    assert [name for name, _ in failures] == ["clusterName", "machineType"]


async def test_lists_from_a_catalogue_are_not_simulated_and_say_so(plugin: Plugin) -> None:
    token = "talos:imageFactory/getExtensionsVersions:getExtensionsVersions"
    with pytest.raises(grpc.aio.AioRpcError, match="getExtensionsVersions is not simulated here"):
        await plugin.invoke(token, {"talosVersion": "v1.13.9"})
