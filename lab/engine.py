"""``python -m lab.engine ARGUMENTS``: pulumi on this machine, outside the lab, with what is missing filled in.

The engine comes from PATH or is built once; a stand-in for the language host is added where there is none. Backend,
credentials and provider plugins are the user's own. ``recover`` is added to its commands: see ``lab/recover.py``.
"""

import os
import sys
from typing import NoReturn

from lab import plugins, recover, standing
from lab.run import ROOT
from lab.tools import ToolError, binary


def main(arguments: list[str]) -> NoReturn:
    """Become pulumi, or recover a stack; exit with 1 when it is missing and cannot be built, or finds no stack."""
    try:
        engine = binary("pulumi", lambda line: print(line, file=sys.stderr))  # noqa: T201
    except ToolError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    folder = ROOT / ".lab" / ".engine"
    folder.mkdir(parents=True, exist_ok=True)
    plugins.language_host(folder)
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(folder)])
    os.environ.setdefault("PULUMI_SKIP_UPDATE_CHECK", "true")
    if arguments[:1] == ["recover"]:
        sys.exit(recover.main(engine, arguments[1:]))
    if reason := standing.obstacle(engine, arguments):
        sys.stderr.write(f"{reason}\n")
        sys.exit(1)
    os.execv(engine, [str(engine), *arguments])  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
