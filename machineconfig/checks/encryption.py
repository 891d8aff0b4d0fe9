"""Keys of encrypted volumes: what a machine must have to seal one."""

from collections.abc import Iterator
from typing import Any

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.paths import MAIN, Path

_KINDS = ("VolumeConfig", "UserVolumeConfig", "RawVolumeConfig", "SwapVolumeConfig")
_OLD = ("machine", "systemDiskEncryption")


def seals_keys_with_a_tpm_that_is_there(final: Final) -> Iterator[Finding]:
    """A key is sealed with a TPM only where the machine has one and boots an image for secure boot."""
    node, image = final.node, final.topology.image_of(final.node)
    for title, path in _keys(final):
        if not node.has_tpm:
            given = f"set {node.tpm_setting} for {node.name} in the stack file, or " if node.tpm_setting else ""
            message = f"seals a key with a TPM, and {node.name} has none"
            yield final.finding(message, f"{given}use a key of kms, static or nodeID", title=title, path=path)
        elif not image.secure_boot:
            message = (
                f"seals a key with a TPM, and the image {node.image} is not for secure boot, without which Talos"
                " cannot seal it"
            )
            cure = f"set secureBoot: true in images.{node.image} in the stack file, or use another kind of key"
            yield final.finding(message, cure, title=title, path=path)


def _keys(final: Final) -> Iterator[tuple[str, Path]]:
    """Every key that a TPM seals, by document and path."""
    for document in final.configuration.documents:
        if document.kind in _KINDS:
            encryption = document.values.get("encryption") or {}
            yield from ((document.title, ("encryption", *path)) for path in _sealed(encryption))
    for name, encryption in (final.find(*_OLD) or {}).items():
        yield from ((MAIN, (*_OLD, name, *path)) for path in _sealed(encryption or {}))


def _sealed(encryption: dict[str, Any]) -> Iterator[Path]:
    for index, key in enumerate(encryption.get("keys", ())):
        if key and key.get("tpm") is not None:
            yield ("keys", index, "tpm")
