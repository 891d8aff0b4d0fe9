"""``python -m bench``: measure previews and bring-ups, and write the tables of docs/benchmarks.md."""

import argparse
import signal
import sys
from pathlib import Path

from bench import report
from bench.measurements import measure
from bench.processes import CommandError
from engine import ROOT
from lab.lifecycle import speed

SIZES = (5, 13, 50, 200)
LARGEST = 254
"""Nodes; the addresses of the generated topologies end there."""


def main(arguments: list[str] | None = None) -> int:
    """Return 0, or 1 where something that is measured failed."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that labs are taken down
    rounds = 1 if options.quick else options.rounds
    try:
        found = [measure(nodes, rounds, _say) for nodes in options.nodes]
    except CommandError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    report.write(options.output, found, rounds, speed())
    _say(f"==> written to {options.output}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--nodes", type=_size, nargs="+", default=list(SIZES), help="sizes of clusters (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="previews of each kind; their median counts (default: 5)")
    parser.add_argument("--quick", action="store_true", help="one round only: does it run, not how fast is it")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks.md", help="where the tables go")
    return parser


def _size(text: str) -> int:
    if not text.isdigit() or not 4 <= int(text) <= LARGEST:
        raise argparse.ArgumentTypeError(f"{text}: a number of nodes from 4 to {LARGEST}")
    return int(text)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
