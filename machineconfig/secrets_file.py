"""The secrets.yaml that a stack imports: read from its place, checked, and said without a word of what is in it."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from findings import Finding
from machinery.importing import RefusedSecrets, import_secrets_yaml
from machinery.secrets import write_secrets_yaml
from topology import Topology


@dataclass(frozen=True)
class SecretsFile:
    """What is known of the file of `secrets.importFrom`."""

    path: Path
    faults: tuple[Finding, ...] = ()
    """Why it cannot be imported."""
    warnings: tuple[Finding, ...] = ()
    missing: tuple[Finding, ...] = ()
    """That it is not there: a new cluster needs it, and one that has its secrets does not."""
    converted: str = field(default="", repr=False)
    """Its content as Talos reads it, where the file has it in another form."""


def secrets_file(topology: Topology, folder: Path) -> SecretsFile | None:
    """Return what a stack file in ``folder`` imports, None where it imports nothing."""
    given = topology.secrets.import_from
    if given is None:
        return None
    path, said = folder / given, partial(Finding.at, ("secrets", "importFrom"), given)
    try:
        if not path.exists():
            message, cure = "is missing, and a new cluster needs it", "bring it before the first `pulumi up`"
            return SecretsFile(path, missing=(said(message, cure),))
        if not path.is_file():  # a pipe would wait for a writer, and give what it has to the first reader only
            return SecretsFile(path, faults=(said("is not a regular file", "write it into one"),))
        imported = import_secrets_yaml(path.read_text(encoding="utf-8-sig"))
    except RefusedSecrets as error:
        return SecretsFile(path, faults=tuple(said(each.message, each.cure) for each in error.findings))
    except UnicodeDecodeError:
        return SecretsFile(path, faults=(said("is not UTF-8 text", "make it with `talosctl gen secrets`"),))
    except OSError as error:
        return SecretsFile(path, faults=(said(f"cannot be read: {error.strerror}", "make it readable"),))
    warnings = tuple(
        said(f"{place} ends on {end:%Y-%m-%d}, within a year", "plan the rotation of this CA")
        for place, end in imported.ending
    )
    converted = write_secrets_yaml(imported.bundle) if imported.is_converted else ""
    return SecretsFile(path, warnings=warnings, converted=converted)
