"""Write the golden files anew: `python -m tests.regenerate`, or `make golden`. Read the diff before committing it."""

import sys
from pathlib import Path

from tests.machineconfig import golden


def main() -> None:
    """Write what has changed, remove what no node has any more, and say so."""
    for folder, wanted in golden.everything().items():
        for path in sorted(set(folder.glob("*/*.yaml")) - set(wanted)):
            path.unlink()
            _say("removed", path)
        for path, text in wanted.items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                _say("wrote", path)


def _say(what: str, path: Path) -> None:
    sys.stdout.write(f"{what} {path.relative_to(golden.ROOT)}\n")


if __name__ == "__main__":
    main()
