"""`talos-stacks`, and `python -m cli`."""

import sys

from engine import entry


def main() -> int:
    """Run the command that the arguments name and return its exit code."""
    return entry.run(_load)


def _load() -> entry.Command:
    from cli.main import main as command

    return command


if __name__ == "__main__":
    sys.exit(main())
