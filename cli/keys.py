"""The keys of a stack's configuration: what patches and the platform ask for, and what is there."""

import difflib
from collections.abc import Iterator

from cli.stackfile import KEYS, PROJECT, StackFile
from machineconfig import Plan
from topology import Fault
from topology.platforms import PLATFORMS


def key_faults(file: StackFile, plan: Plan) -> Iterator[Fault]:
    """Secrets that patches ask for and the stack does not have, and keys that nothing reads, of the file's own too.

    The platform's own secrets may be missing: a stack file can be checked before its credentials are there.
    """
    for key in file.strange:
        near = difflib.get_close_matches(key, KEYS, n=1)
        yield Fault(key, "", "is no key of a stack file", f"write {near[0]} or take it out" if near else "take it out")
    asked = plan.secrets
    for name, source in sorted(asked.items()):
        if name not in file.config and not file.has_environment:
            cure = f"set it with `pulumi config set --secret {name}`"
            yield Fault(f"{PROJECT}:{name}", "", f"is not there, and {source} asks for it", cure)
    known = {"cluster", *asked, *PLATFORMS[plan.topology.platform.kind].secrets}
    for key in file.config:
        if plan.is_complete and key not in known and ":" not in key:
            near = difflib.get_close_matches(key, known, n=1)
            cure = f"write {PROJECT}:{near[0]} or take it out" if near else "take it out"
            yield Fault(f"{PROJECT}:{key}", "", "is a key that nothing reads", cure)
