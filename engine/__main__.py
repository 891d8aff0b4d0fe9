"""``python -m engine ARGUMENTS``: see ``engine/command.py``."""

import sys

from engine import entry


def _load() -> entry.Command:
    from engine.command import main

    return lambda: main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(entry.run(_load))
