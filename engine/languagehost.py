"""Stand-in for ``pulumi-language-python``, which no package registry carries: it runs a Python program for the engine.

The engine starts it with its own address as the last argument and reads a port from its first line of output. It owns
what the real host does around a run (settings, working directory, errors) and refuses everything that is not running a
program: generating code, packing, running plugins. Every run gets a fresh copy of the project's own modules.

This file imports nothing of the project: the engine may start it in any folder and with any PATH.
"""

import asyncio
import contextvars
import logging
import os
import runpy
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import grpc
import pulumi
from google.protobuf import empty_pb2
from pulumi.automation._server import LanguageServer
from pulumi.runtime import run_in_stack, set_all_config
from pulumi.runtime.proto import language_pb2, language_pb2_grpc
from pulumi.runtime.settings import reset_options

Interrupt = Callable[[], object]
MESSAGE_BYTES = 400 * 1024 * 1024  # the SDK's own limit


class LanguageHost(LanguageServer):
    """The engine's view of one Python project."""

    def __init__(self, engine: str) -> None:
        """Serve the engine at this address."""
        super().__init__(lambda: None)
        self._engine = engine
        self._running: list[Interrupt] = []

    def Run(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Run the program once; what it says is wrong reaches the engine's log, so the answer itself only bails out."""
        program = program_file(request)
        os.chdir(request.pwd or request.info.program_directory)
        failure = contextvars.copy_context().run(self._run, request, program)
        return language_pb2.RunResponse(bail=failure == "", error=failure or "")

    def _run(self, request: Any, program: Path) -> str | None:
        """Return None after success, an empty text after an error that was logged, else the error."""
        reset_options(
            project=request.project,
            stack=request.stack,
            root_directory=request.info.root_directory,
            parallel=request.parallel,
            engine_address=request.args[0] if request.args else self._engine,
            monitor_address=request.monitor_address,
            preview=request.dryRun,
            organization=request.organization or "organization",
        )
        set_all_config(dict(request.config), list(request.configSecretKeys))
        try:
            run_to_end(run_in_stack(lambda: execute(program)), max(request.parallel, 1) * 4, self._running)
        except pulumi.RunError as error:
            return log_error(str(error))
        except asyncio.CancelledError:  # by Cancel
            return ""
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.UNAVAILABLE:  # the engine is shutting down
                return None
            return log_error(f"RPC error: {error.details()}")
        except (Exception, SystemExit):
            return log_error(f"Program failed with an unhandled exception:\n{user_traceback(program)}")
        return None

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Interrupt the program, hooks that wait included, as the real host does with a signal to its process."""
        for interrupt in self._running:
            interrupt()
        return empty_pb2.Empty()

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:  # noqa: N802
        """List the installed packages, as ``pulumi about`` shows them."""
        found = sorted({(d.metadata["Name"], d.version) for d in metadata.distributions()})
        dependencies = [language_pb2.DependencyInfo(name=name, version=version) for name, version in found]
        return language_pb2.GetProgramDependenciesResponse(dependencies=dependencies)

    def GenerateProgram(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Write no code for ``pulumi import``: what is imported is declared in the stack file."""
        return language_pb2.GenerateProgramResponse(source={"__main__.py": b"# declare what was imported by hand\n"})

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Ask nothing."""
        return language_pb2.RuntimeOptionsResponse()


def program_file(request: Any) -> Path:
    """Return the file or folder of the program; the engine names it relative to the program's folder."""
    entry = request.info.entry_point or request.program or "."
    return (Path(request.info.program_directory or request.pwd) / entry).resolve()


def execute(program: Path) -> None:
    """Run the program as ``__main__`` with fresh modules of its own, so that nothing of an earlier run is left.

    A folder's modules are found while it runs, those beside a file are not, as with the real host.
    """
    home = program if program.is_dir() else program.parent
    if program.is_dir() and not (program / "__main__.py").is_file():
        raise pulumi.RunError(f"unable to find main python program `__main__.py` in `{program}`")
    forget_modules(home)
    sys.argv = [str(program)]
    runpy.run_path(str(program), run_name="__main__")


def forget_modules(home: Path) -> None:
    """Drop modules loaded from ``home``, but not installed ones, whose folder may lie in it."""
    for name, module in list(sys.modules.items()):
        path = Path(getattr(module, "__file__", None) or os.devnull)
        if (
            name != "__main__"
            and path.is_relative_to(home)
            and not {"site-packages", "dist-packages"} & set(path.parts)
        ):
            del sys.modules[name]


def run_to_end(program: Coroutine[Any, Any, None], workers: int, running: "list[Interrupt]") -> None:
    """Run ``program`` on a loop of its own and cancel what it leaves unfinished; ``running`` says how to end it."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(executor := ThreadPoolExecutor(max_workers=workers))
    asyncio.set_event_loop(loop)
    task = loop.create_task(program)
    interrupt = partial(loop.call_soon_threadsafe, task.cancel)
    running.append(interrupt)
    try:
        loop.run_until_complete(task)
    finally:
        running.remove(interrupt)
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        asyncio.set_event_loop(None)
        loop.close()
        executor.shutdown(wait=False)
        sys.stdout.flush()
        sys.stderr.flush()


def user_traceback(program: Path) -> str:
    """Return the current traceback from the program's own first frame on; the frames of this host say nothing."""
    main = program / "__main__.py" if program.is_dir() else program
    frames = traceback.extract_tb(sys.exc_info()[2])
    for index, frame in enumerate(frames):
        if Path(frame.filename) == main:
            return traceback.format_exc(limit=index - len(frames))
    return traceback.format_exc()


def log_error(message: str) -> str:
    """Send ``message`` to the engine's log; return it only if the engine cannot be reached."""
    try:
        pulumi.log.error(message)
    except Exception:
        return message
    return ""


def watch(parent: int, engine: str, stop: Callable[[], None]) -> None:
    """End with the engine: a killed engine never asks its host to stop, and may be gone before this one has begun."""
    never = threading.Event()
    if reachable(engine):
        while os.getppid() == parent:
            never.wait(0.5)
    stop()


def reachable(address: str) -> bool:
    """Tell whether anything listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, ValueError):
        return False
    return True


def main() -> int:
    """Serve until the engine interrupts or is gone."""
    parent = os.getppid()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # unfinished outputs of a failed program are not news
    engine = next((argument for argument in reversed(sys.argv[1:]) if not argument.startswith("-")), "")
    size = [("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)]
    server = grpc.server(ThreadPoolExecutor(max_workers=8), options=size)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(engine), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    over = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: over.set())
    print(port, flush=True)  # noqa: T201 - the engine reads it, and may interrupt from then on
    threading.Thread(target=watch, args=(parent, engine, over.set), daemon=True).start()
    over.wait()
    server.stop(0)
    sys.stdout.flush()
    os._exit(0)  # a program's threads must not hold the engine up


if __name__ == "__main__":
    sys.exit(main())
