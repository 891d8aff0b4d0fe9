"""The keys of a stack's configuration: what patches and the platform ask for, and what is there."""

from collections.abc import Iterator

from cli.stackfile import StackFile
from engine import PROJECT
from findings import NOTHING, Finding, nearest
from machineconfig import Plan
from stackfile import KEYS
from topology.platforms import PLATFORMS

_UNREAD = "is a key that nothing reads"


def key_faults(file: StackFile, plan: Plan) -> Iterator[Finding]:
    """Misspelt keys, of the file's own too."""
    for key in file.strange:
        near = nearest(key, KEYS)
        yield Finding.at(
            (key,), NOTHING, "is not a key of a stack file", f"write {near} or take it out" if near else "take it out"
        )
    for key, near in _unread(file, plan):
        if near:
            yield Finding.at((f"{PROJECT}:{key}",), NOTHING, _UNREAD, f"write {PROJECT}:{near} or take it out")


def missing_secrets(file: StackFile, plan: Plan) -> Iterator[Finding]:
    """Secrets that patches ask for and the stack does not have.

    The platform's own secrets may be missing: a stack file can be checked before its credentials are there.
    """
    for name, source in sorted(plan.secrets.items()):
        if name not in file.config and not file.has_environment:
            cure = f"set it with `pulumi config set --secret {name} --stack {file.name}`"
            yield Finding.at((f"{PROJECT}:{name}",), NOTHING, f"is missing, and {source} asks for it", cure)


def key_warnings(file: StackFile, plan: Plan) -> Iterator[Finding]:
    """Keys that nothing reads: left over, or set before the patch that will ask for them."""
    for key, near in _unread(file, plan):
        if not near:
            yield Finding.at((f"{PROJECT}:{key}",), NOTHING, _UNREAD, "take it out")


def _unread(file: StackFile, plan: Plan) -> Iterator[tuple[str, str]]:
    """Keys that nothing reads, each with the known one that it may be a slip of."""
    known = {"cluster", *plan.secrets, *PLATFORMS[plan.topology.platform.kind].secrets}
    for key in file.config if plan.is_complete else ():
        if key not in known and ":" not in key:
            yield key, nearest(key, known)
