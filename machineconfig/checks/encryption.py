"""Keys of encrypted volumes: what a machine must have to seal one."""

from collections.abc import Iterator

from findings import Finding
from machineconfig.checks.configuration import Final

_KINDS = ("VolumeConfig", "UserVolumeConfig", "RawVolumeConfig", "SwapVolumeConfig")
_OLD = ("machine", "systemDiskEncryption", "*")
_SEALED = ("keys", "*", "tpm")


def seals_keys_with_a_tpm_that_is_there(final: Final) -> Iterator[Finding]:
    """A key is sealed with a TPM only where the machine has one and boots an image for secure boot."""
    node, image = final.node, final.topology.image_of(final.node)
    for title, path, _ in (*final.all_at(*_OLD, *_SEALED), *final.all_at("encryption", *_SEALED, kinds=_KINDS)):
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
