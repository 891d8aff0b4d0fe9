"""A small checkout to run commands in, and a provider that needs no process."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.main import main
from cli.provider import Generate
from machinery import Bundle, client_certificate, generate_configuration, generate_secrets, talosconfig
from talosapi import Credentials
from tests.cli.fleet import Fleet

ROOT = Path(__file__).parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lab stack and the patches, but for those of nodes of other stacks, as the current folder."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("Pulumi.yaml", "Pulumi.lab.yaml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "patches", folder / "patches", ignore=shutil.ignore_patterns("node", "zone"))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("PULUMI_STACK", raising=False)
    return folder


@pytest.fixture(autouse=True)
def no_plugin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make configurations without a plugin; test_plugin.py shows that one gives the same."""

    @contextmanager
    def provider() -> Iterator[Generate]:
        yield generate_configuration

    monkeypatch.setattr("cli.diff.provider", provider)


@pytest.fixture
def bundle() -> Bundle:
    return generate_secrets("v1.6")


@pytest.fixture
def fleet(checkout: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """Machines that run nothing yet, with a talosconfig in the checkout."""
    client = client_certificate(bundle.os)
    credentials = Credentials(bundle.os.crt.encode(), client.crt.encode(), client.key.encode())
    found = Fleet(checkout, bundle, credentials)
    monkeypatch.setattr("cli.state.read", found.state)
    monkeypatch.setattr("cli.running.ask", found.ask)
    (checkout / "talosconfig").write_text(talosconfig("lab", bundle.os.crt, client))
    return found


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return its exit code, stdout and stderr."""

    def command(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return command
