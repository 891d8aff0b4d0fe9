"""How the commands of this project begin and end: without a traceback, whoever ends them."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

Command: TypeAlias = Callable[[], int]
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def run(load: Callable[[], Command]) -> int:
    """Load the modules of a command, run it, and return its exit code.

    An interrupt while they are loaded ends the process, as it does before Python has begun. A reader that goes away, an
    output that takes no more and any other error of the system end it with 1, the last two in one sentence.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - for as long as the process lives
    if sys.stdout is None:
        sys.stderr.write("standard output is closed: nothing was done\n")
        return 1
    try:
        try:
            with _interrupts_end_the_process():
                command = load()
            return command()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        sys.stderr.write(f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}\n")
    return 1


@contextlib.contextmanager
def _interrupts_end_the_process() -> Iterator[None]:
    """Until a command can handle them; where they are ignored, as in a shell's background, they stay ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _drop_output() -> None:
    """Let what is not written yet go nowhere, or Python complains of it at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
