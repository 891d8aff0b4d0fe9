"""Credentials of registries that are behind mirrors."""

from pathlib import Path
from typing import Any

import pytest

from tests.machineconfig.stacks import refused_and_warned

AUTH = "machine: {registries: {config: {%s: {auth: {username: a, password: '{{ secret(\"pw\") }}'}}}}}\n"
AUTH_DOCUMENT = (
    "apiVersion: v1alpha1\nkind: RegistryAuthConfig\nname: %s\nusername: a\npassword: '{{ secret(\"pw\") }}'\n"
)
MIRROR_DOCUMENT = "apiVersion: v1alpha1\nkind: RegistryMirrorConfig\nname: %s\nendpoints: [{url: %s}]\n"
MIRROR = "https://mirror.example.net"


def warned(folder: Path, text: str, mirrors: Any, *more: str) -> tuple[str, ...]:
    files = {f"all/7{at}-x.yaml.j2": each for at, each in enumerate((text, *more))}
    refused, lines = refused_and_warned(folder, files, **({"network__registryMirrors": mirrors} if mirrors else {}))
    assert refused == ()
    return lines


@pytest.mark.parametrize("text", [AUTH, AUTH_DOCUMENT])
@pytest.mark.parametrize(
    ("registry", "mirrors"), [("docker.io", {"docker.io": [MIRROR]}), ("ghcr.io", {"*": [MIRROR]})]
)
def test_a_credential_that_no_mirror_gets_is_warned_of(text: str, registry: str, mirrors: Any, tmp_path: Path) -> None:
    (line,) = warned(tmp_path, text % registry, mirrors)
    assert f"the credential of {registry} is sent to none of its mirrors (mirror.example.net, patches/all/28-" in line
    assert line.endswith("put it under the name of the mirror, mirror.example.net [unused-credential]")


def test_a_mirror_in_a_document_counts_too(tmp_path: Path) -> None:
    (line,) = warned(tmp_path, AUTH_DOCUMENT % "ghcr.io", None, MIRROR_DOCUMENT % ("ghcr.io", MIRROR))
    assert "none of its mirrors (mirror.example.net, patches/all/71-x.yaml.j2:4)" in line


@pytest.mark.parametrize(
    ("registry", "mirrors"),
    [
        ("mirror.example.net", {"docker.io": [MIRROR]}),
        ("ghcr.io", {"docker.io": [MIRROR]}),
        ("docker.io", {"docker.io": [MIRROR, "https://registry-1.docker.io"]}),
        ("ghcr.io", {"ghcr.io": ["https://ghcr.io"], "*": [MIRROR]}),
    ],
)
def test_a_credential_that_is_used_is_clean(registry: str, mirrors: Any, tmp_path: Path) -> None:
    assert warned(tmp_path, AUTH % registry, mirrors) == ()
