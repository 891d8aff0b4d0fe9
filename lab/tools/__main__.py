"""``python -m lab.tools [NAME ...]``: make sure that the programs are there and print where."""

import sys

from engine.tools import ToolError, binary
from lab.tools import TOOLS


def main(names: list[str]) -> int:
    """Return 0 when every named program (all of them by default) is there."""
    for name in names or list(TOOLS):
        if name not in TOOLS:
            sys.stderr.write(f"{name} is not a tool of the lab; there are {', '.join(TOOLS)}\n")
            return 2
        try:
            sys.stdout.write(f"{binary(TOOLS[name], report=lambda line: print(line, file=sys.stderr))}\n")  # noqa: T201
        except ToolError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
