"""The Image Factory."""

import http.client
import json
import lzma
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.authority import issue
from lab.factory import Factory, serve
from lab.images import FORMATS
from lab.schematic import SchematicError, canonical, identity

EMPTY = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
GUEST_AGENT = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
WITH_AGENT = "customization: {systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}}"


class Client:
    def __init__(self, port: int, bundle: Path) -> None:
        self.port, self.context = port, ssl.create_default_context(cafile=str(bundle))

    def __call__(self, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=10)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()


@pytest.fixture
def seen() -> list[str]:
    return []


@pytest.fixture
def client(tmp_path: Path, seen: list[str]) -> Iterator[Client]:
    bundle, certificate = issue(tmp_path, "127.0.0.1")
    server = serve(Factory(lambda event, **_: seen.append(event)), "127.0.0.1", 0, certificate)
    yield Client(server.server_address[1], bundle)
    server.shutdown()
    server.server_close()


def test_ids_are_those_of_the_real_factory() -> None:
    assert identity(canonical("")) == EMPTY
    assert identity(canonical("customization: {}\n")) == EMPTY
    assert identity(canonical(WITH_AGENT)) == GUEST_AGENT


def test_the_order_of_keys_does_not_matter_and_that_of_extensions_does() -> None:
    one = canonical("customization: {extraKernelArgs: [a=b], bootloader: sd-boot}")
    assert one == canonical("customization: {bootloader: sd-boot, extraKernelArgs: [a=b]}")
    pair = "customization: {{systemExtensions: {{officialExtensions: [siderolabs/{}, siderolabs/{}]}}}}"
    assert canonical(pair.format("zfs", "drbd")) != canonical(pair.format("drbd", "zfs"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("customisation: {}", "field customisation not found"),
        ("customization: []", "schematic.customization: a mapping is wanted"),
        ("customization: {extraKernelArgs: console}", "extraKernelArgs: a list is wanted"),
        ("customization: {systemExtensions: {officialExtensions: [siderolabs/no]}}", "siderolabs/no is not available"),
        ("[", "not YAML"),
    ],
)
def test_a_wrong_schematic_is_refused(text: str, message: str) -> None:
    with pytest.raises(SchematicError, match=message):
        canonical(text)


def test_a_schematic_is_taken_and_its_images_are_there(client: Client, seen: list[str]) -> None:
    path = f"/image/{GUEST_AGENT}/v1.13.9/nocloud-amd64.raw.xz"
    assert client("GET", path)[0] == 404
    status, _, body = client("POST", "/schematics", WITH_AGENT)
    assert (status, json.loads(body)) == (201, {"id": GUEST_AGENT})
    status, headers, content = client("GET", path)
    assert (status, int(headers["Content-Length"])) == (200, len(content))
    assert client("HEAD", path)[0] == 200
    assert seen == ["schematic", "image", "image"]


def test_it_says_as_a_registry_whether_an_installer_is_there(client: Client) -> None:
    def status(installer: str, schematic: str, version: str) -> int:
        return client("HEAD", f"/v2/{installer}/{schematic}/manifests/{version}")[0]

    assert status("metal-installer", EMPTY, "v1.14.1") == 200
    assert status("abacus-installer", EMPTY, "v1.14.1") == 404
    assert status("metal-installer", EMPTY, "v1.99.0") == 404
    assert status("nocloud-installer-secureboot", GUEST_AGENT, "v1.13.9") == 404
    client("POST", "/schematics", WITH_AGENT)
    assert status("nocloud-installer-secureboot", GUEST_AGENT, "v1.13.9") == 200
    _, headers, body = client("GET", f"/v2/metal-installer/{'0' * 64}/manifests/v1.14.1")
    assert headers["Content-Type"] == "application/json" and b"not found" in body


def test_a_refused_schematic_is_a_bad_request(client: Client) -> None:
    status, _, body = client("POST", "/schematics", "customization: {bootlader: x}")
    assert (status, body) == (400, b"schematic.customization: field bootlader not found\n")


@pytest.mark.parametrize(
    "path", ["v1.3.0/metal-amd64.iso", "v1.13.9/metal-mips.iso", "v1.13.9/metal-amd64.exe", "latest/metal-amd64.iso"]
)
def test_what_the_factory_does_not_make_is_not_found(client: Client, path: str) -> None:
    assert client("GET", f"/image/{EMPTY}/{path}")[0] == 404


@pytest.mark.parametrize(
    ("kind", "magic"),
    [
        ("raw.xz", b"\xfd7zXZ\0"),
        ("raw.zst", b"\x28\xb5\x2f\xfd"),
        ("qcow2", b"QFI\xfb\0\0\0\3"),
        ("iso", b"\0" * 32768 + b"\1CD001"),
    ],
)
def test_images_begin_as_their_formats_do(client: Client, kind: str, magic: bytes) -> None:
    content = client("GET", f"/image/{EMPTY}/v1.13.9/metal-amd64.{kind}")[2]
    assert content.startswith(magic)


def test_a_raw_image_is_a_disk_with_a_partition_table() -> None:
    raw = FORMATS["raw"]()
    assert raw[510:520] == b"\x55\xaaEFI PART"
    assert lzma.decompress(FORMATS["raw.xz"]()) == raw
    assert FORMATS["raw.zst"]().endswith(raw)


def test_the_extensions_of_a_version_are_listed(client: Client) -> None:
    status, _, body = client("GET", "/version/v1.13.9/extensions/official")
    assert status == 200
    assert "siderolabs/qemu-guest-agent" in {entry["name"] for entry in json.loads(body)}
    assert client("GET", "/version/v0.1.0/extensions/official")[0] == 404


def test_only_those_who_trust_the_labs_ca_speak_to_it(client: Client) -> None:
    client.context = ssl.create_default_context()
    with pytest.raises(ssl.SSLCertVerificationError):
        client("GET", "/versions")
