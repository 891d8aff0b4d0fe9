"""What makes a machine configuration: the Talos provider plugin that preview uses, or this program's own rendering.

The latter does what the provider's library does, and tests compare the two. Where it is used, that is said.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cli.errors import CliError
from cli.terminal import warn
from machinery import GenerateArgs, generate_configuration

Generate = Callable[[GenerateArgs], str]
BINARY = "pulumi-resource-talos"
_PACKAGE = "pulumiverse-talos"


def find(environment: Mapping[str, str]) -> Path | None:
    """Return the plugin on PATH, else the one that the engine has installed, else None."""
    if path := shutil.which(BINARY, path=environment.get("PATH", os.defpath)):
        return Path(path)
    home = Path(environment.get("PULUMI_HOME") or Path.home() / ".pulumi")
    installed = home / "plugins" / f"resource-talos-v{package_version()}" / BINARY
    return installed if os.access(installed, os.X_OK) else None


@contextmanager
def plugin() -> Iterator[Generate]:
    """Give the getConfiguration of the plugin that preview uses; raises CliError where there is none."""
    path = find(os.environ)
    if path is None:
        raise CliError(
            f"no Talos provider plugin {package_version()} is on PATH or installed; leave --plugin out, or run a"
            " preview, which installs it (docs/operations.md says how else)"
        )
    from cli.plugin import Plugin  # the SDK behind it takes a second to load

    with Plugin(path) as started:
        yield started.configuration


@contextmanager
def provider() -> Iterator[Generate]:
    """Give the getConfiguration of a plugin that runs meanwhile; where there is none, say so and do it without."""
    if find(os.environ):
        with plugin() as generate:
            yield generate
    else:
        warn(
            f"no Talos provider plugin {package_version()} is on PATH or installed, so this program made these"
            " configurations itself; a preview installs it, and docs/operations.md says how else"
        )
        yield generate_configuration


def package_version() -> str:
    """Return the version of the provider's SDK, which is the plugin's own; empty where it is not installed."""
    try:
        return version(_PACKAGE)
    except PackageNotFoundError:
        return ""
