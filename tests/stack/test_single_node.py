"""A cluster of one machine, with machine secrets that were there before."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from machinery import Bundle, generate_secrets
from machinery.pem import read_key
from tests.machinery.test_secrets import secrets_yaml
from tests.stack.rehearsal import Rehearsal
from tests.stack.test_homelab import configurations

pytestmark = pytest.mark.stack

NODE = "lab-controlplane-01"


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return generate_secrets("v1.13")


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory, bundle: Bundle) -> Iterator[Rehearsal]:
    rehearsal = Rehearsal(tmp_path_factory.mktemp("single"))
    (rehearsal.project / "secrets.yaml").write_text(yaml.safe_dump(as_openssl_writes(secrets_yaml(bundle))))
    rehearsal.topology["nodes"] = rehearsal.topology["nodes"][:1]
    rehearsal.topology["secrets"] = {"importFrom": "secrets.yaml"}
    rehearsal.save()
    rehearsal.start()
    try:
        rehearsal.up()
        yield rehearsal
    finally:
        rehearsal.down()


def as_openssl_writes(secrets: dict[str, Any]) -> dict[str, Any]:
    """The same secrets in forms that Talos does not read: a key of PKCS#8, words before a certificate."""
    pair = secrets["certs"]["k8s"]
    key = read_key(base64.b64decode(pair["key"]).decode())
    pair["key"] = base64.b64encode(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())).decode()
    pair["crt"] = base64.b64encode(b"Certificate:\n" + base64.b64decode(pair["crt"])).decode()
    return secrets


def documents(rehearsal: Rehearsal) -> list[dict[str, object]]:
    return list(yaml.safe_load_all(configurations(rehearsal)[NODE]))


def test_the_machine_has_the_imported_secrets(single: Rehearsal, bundle: Bundle) -> None:
    text = configurations(single)[NODE]
    assert bundle.cluster_id in text and bundle.trustd_token in text
    assert base64.b64encode(bundle.os.key.encode()).decode() in text
    assert base64.b64encode(bundle.k8s.key.encode()).decode() in text, "it was converted"
    assert base64.b64encode(bundle.k8s.crt.encode()).decode() in text


def test_secrets_that_cannot_serve_are_refused_at_preview(single: Rehearsal, bundle: Bundle) -> None:
    given = secrets_yaml(bundle) | {"trustdinfo": {}}
    given["certs"]["etcd"]["key"] = given["certs"]["k8s"]["key"]
    (single.project / "wrong.yaml").write_text(yaml.safe_dump(given))
    single.topology["secrets"] = {"importFrom": "wrong.yaml"}
    single.save()
    said = single.pulumi("preview", "--non-interactive", fails=True)
    single.topology["secrets"] = {"importFrom": "secrets.yaml"}
    single.save()
    assert "2 faults; nothing was changed" in said
    assert "secrets.importFrom: wrong.yaml trustdinfo.token is missing" in said
    assert "certs.etcd.crt the certificate of O=etcd belongs to another key than the one beside it" in said


def test_its_only_machine_runs_ordinary_pods(single: Rehearsal) -> None:
    machine, cluster = documents(single)[0]["machine"], documents(single)[0]["cluster"]
    assert isinstance(machine, dict) and isinstance(cluster, dict)
    assert cluster["allowSchedulingOnControlPlanes"] is True
    assert "node.kubernetes.io/exclude-from-external-load-balancers" not in machine.get("nodeLabels", {})


def test_the_import_is_done_once_and_may_then_be_left_out(single: Rehearsal) -> None:
    assert single.steps() == {}
    (single.project / "secrets.yaml").unlink()
    assert single.steps() == {}
    single.topology["secrets"] = {"generate": True}
    single.save()
    assert single.steps() == {}


@pytest.mark.parametrize("path", ["other/secrets.yaml", "secrets.yaml"])
def test_secrets_on_record_win_over_any_other_file(single: Rehearsal, bundle: Bundle, path: str) -> None:
    file = single.project / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(secrets_yaml(generate_secrets("v1.13"))))
    single.topology["secrets"] = {"importFrom": path}
    single.save()
    assert single.steps() == {}
    assert "unchanged" in single.up()
    single.topology["secrets"] = {"generate": True}
    single.save()
    assert bundle.trustd_token in configurations(single)[NODE]


def test_another_contract_is_refused_with_imported_secrets_too(single: Rehearsal) -> None:
    single.topology["versions"]["contract"] = "v1.12"
    single.save()
    output = single.pulumi("preview", "--non-interactive", fails=True)
    single.topology["versions"]["contract"] = "v1.13"
    single.save()
    assert "versions.contract: v1.12 is not what this cluster was created with (v1.13)" in output


def test_a_single_control_plane_may_reboot_for_a_change(single: Rehearsal) -> None:
    single.patch("all/90-change.yaml", "machine:\n  env:\n    CHANGE: '1'\n")
    single.up()
    assert [entry["machine"] for entry in single.journal("reboot")][-1] == NODE
    assert single.journal("violation") == []
