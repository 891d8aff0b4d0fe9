"""Where machine secrets come from."""

from collections.abc import Iterator

from findings import NOTHING, Finding
from topology.topology import Topology


def secrets_have_one_source(topology: Topology) -> Iterator[Finding]:
    """Machine secrets are generated or imported, never both and never neither."""
    secrets = topology.secrets
    if secrets.generate and secrets.import_from is not None:
        cure = "leave generate out to import them, or importFrom out to generate them"
        yield Finding.at(("secrets", "importFrom"), secrets.import_from, "is given, and generate is true as well", cure)
    if not secrets.generate and secrets.import_from is None:
        cure = "write generate: true, or importFrom with the path of a secrets.yaml"
        yield Finding.at(("secrets",), NOTHING, "names no source", cure)
