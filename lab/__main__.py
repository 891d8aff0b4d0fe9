"""``python -m lab``."""

import sys

from engine import entry

if sys.platform == "win32":
    sys.exit("the lab needs Linux or macOS; on Windows use WSL 2. The program itself runs here.")


def _load() -> entry.Command:
    from lab.cli import main

    return main


sys.exit(entry.run(_load))
