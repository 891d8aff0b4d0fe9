"""The secrets.yaml that a stack imports: whether it can be, without a word of what is in it."""

from pathlib import Path

from cli.stackfile import StackFile
from machinery import ConfigError, read_secrets_yaml
from topology import Fault, Topology

_PATH = "secrets.importFrom"


def import_faults(file: StackFile, topology: Topology) -> tuple[Fault, ...]:
    """What is wrong with the file, if it is there."""
    path = _path(file, topology)
    if path is None or not path.exists():
        return ()
    try:
        read_secrets_yaml(path.read_text(encoding="utf-8-sig"))
    except ConfigError as error:
        # What a YAML reader says can quote the text; the rest are names of keys.
        problems = [each.partition(": ")[0] if "not YAML" in each else each for each in error.problems]
        return tuple(_fault(topology, each, "make it with `talosctl gen secrets`") for each in problems)
    except UnicodeDecodeError:
        return (_fault(topology, "is not UTF-8 text", "make it with `talosctl gen secrets`"),)
    except OSError as error:
        return (_fault(topology, f"cannot be read: {error.strerror}", "make it readable"),)
    return ()


def import_warnings(file: StackFile, topology: Topology) -> tuple[Fault, ...]:
    """That the file is not there: a new cluster needs it, and one that has its secrets does not."""
    path = _path(file, topology)
    if path is None or path.exists():
        return ()
    return (_fault(topology, "is not there, and a new cluster needs it", "bring it before the first `pulumi up`"),)


def _path(file: StackFile, topology: Topology) -> Path | None:
    given = topology.secrets.import_from
    return file.folder / given if given else None


def _fault(topology: Topology, message: str, cure: str) -> Fault:
    return Fault(_PATH, str(topology.secrets.import_from), message, cure)
