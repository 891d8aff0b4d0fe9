"""`talos-stacks`, and `python -m cli`."""

import gc
import sys

from engine import entry


def main() -> int:
    """Run the command that the arguments name and return its exit code."""
    return entry.run(_load)


def _load() -> entry.Command:
    # Values of many nodes live long and form no cycles: looking for some takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000)
    from cli import main

    main.load(sys.argv[1:])
    return main.main


if __name__ == "__main__":
    sys.exit(main())
