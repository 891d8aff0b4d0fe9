"""Mirrors with paths, and credentials of registries that are behind mirrors."""

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


WITH_PATH = {"docker.io": [f"{MIRROR}/v2/hub"]}
MIRRORS = "machine: {registries: {mirrors: {docker.io: {%s}}}}\n"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            "overridePath: false",
            'machine.registries.mirrors["docker.io"].overridePath is false; the topology says true',
        ),
        ("overridePath: {$patch: delete}", 'mirrors["docker.io"].overridePath is gone; the topology says true'),
        (
            "endpoints: ['https://robot:t0ps3cret@other.example.net/']",
            "the mirror other.example.net of docker.io has no path, and by overridePath"
            " (patches/all/28-registries.yaml.j2:10) none is added; end its URL with /v2 [mirror-path]",
        ),
    ],
)
def test_a_patch_leaves_no_mirror_without_its_path(settings: str, message: str, tmp_path: Path) -> None:
    files = {"all/70-x.yaml": MIRRORS % settings}
    (line,), _ = refused_and_warned(tmp_path, files, network__registryMirrors=WITH_PATH)
    assert line.startswith("patches/all/70-x.yaml:1 (cp1, w1): ") and message in line


@pytest.mark.parametrize("settings", ["overridePath: true", f"endpoints: ['{MIRROR}/v2/other']", "$patch: delete"])
def test_a_mirror_with_its_path_or_none_at_all_is_clean(settings: str, tmp_path: Path) -> None:
    files = {"all/70-x.yaml": MIRRORS % settings}
    assert refused_and_warned(tmp_path, files, network__registryMirrors=WITH_PATH) == ((), ())


def test_a_url_with_a_password_that_appears_twice_is_not_shown(tmp_path: Path) -> None:
    url = "https://robot:t0ps3cret@mirror.example.net"
    lines = refused_and_warned(tmp_path, {"all/70-x.yaml": MIRRORS % f"endpoints: ['{url}', '{url}']"})[0]
    assert "a secret value appears twice in endpoints" in lines[0]
    assert "t0ps3cret" not in str(lines)
