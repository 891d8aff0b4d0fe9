"""``python -m engine ARGUMENTS``: pulumi on this machine, with what is missing filled in.

The engine comes from PATH or is built once; a stand-in for the language host is added where there is none. Backend,
credentials and provider plugins are the user's own. ``recover`` is added to its commands: see ``engine/recover.py``.
"""

import os
import sys
from collections.abc import Sequence

from engine import ROOT, messages, recover, scripts
from engine.tools import PULUMI, ToolError, binary


def main(arguments: Sequence[str]) -> int:
    """Become pulumi, or recover a stack; return 1 when pulumi is missing and cannot be built, or finds no stack."""
    try:
        engine = binary(PULUMI, lambda line: print(line, file=sys.stderr))  # noqa: T201
    except ToolError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    folder = ROOT / ".engine"
    scripts.language_host(folder)
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(folder)])
    os.environ.setdefault("PULUMI_SKIP_UPDATE_CHECK", "true")
    if arguments[:1] == ["recover"]:
        return recover.main(engine, arguments[1:])
    if reason := messages.obstacle(engine, arguments):
        sys.stderr.write(f"{reason}\n")
        return 1
    return os.execv(engine, [str(engine), *arguments])  # noqa: S606
