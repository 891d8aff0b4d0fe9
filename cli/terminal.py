"""What is printed: plain text, with colour on a terminal alone, or JSON."""

import json
import os
import sys
from typing import IO

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "dim": 2, "bold": 1}


def coloured(stream: IO[str]) -> bool:
    """Whether a stream is a terminal that may show colour; NO_COLOR and TERM=dumb say no."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream: IO[str] | None = None) -> str:
    """A text in a colour, where the stream (stdout) shows any."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if text and coloured(stream or sys.stdout) else text


def say(text: str = "") -> None:
    """One line to stdout."""
    sys.stdout.write(f"{text}\n")


def warn(text: str) -> None:
    """One line to stderr, beside the result."""
    sys.stderr.write(f"{paint('warning:', 'yellow', sys.stderr)} {text}\n")


def tell(text: str) -> None:
    """One line of progress to stderr, beside the result."""
    sys.stderr.write(f"{text}\n")


def say_json(value: object) -> None:
    """A value to stdout as JSON, indented."""
    say(json.dumps(value, indent=2, ensure_ascii=False))
