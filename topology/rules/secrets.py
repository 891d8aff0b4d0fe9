"""Where machine secrets come from."""

from collections.abc import Iterator

from topology.fault import NOTHING, Found
from topology.topology import Topology


def secrets_have_one_source(topology: Topology) -> Iterator[Found]:
    """Machine secrets are generated or imported, never both and never neither."""
    secrets = topology.secrets
    if secrets.generate and secrets.import_from is not None:
        cure = "leave generate out to import them, or importFrom out to generate them"
        yield Found(("secrets", "importFrom"), secrets.import_from, "is given, and generate is true as well", cure)
    if not secrets.generate and secrets.import_from is None:
        cure = "write generate: true, or importFrom with the path of a secrets.yaml"
        yield Found(("secrets",), NOTHING, "names no source", cure)
