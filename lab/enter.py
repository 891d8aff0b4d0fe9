"""``python lab/enter.py PID COMMAND ...``: run a command in a lab's namespace, with nothing of the lab on its path."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from lab.namespace import main  # noqa: E402 - the path first

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
