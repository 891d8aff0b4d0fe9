import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import ROOT
from engine.tools import PULUMI, binary


@pytest.fixture(scope="session")
def engine() -> Path:
    return binary(PULUMI)


@pytest.fixture
def program(tmp_path: Path, engine: Path) -> Callable[[str], Callable[..., "subprocess.CompletedProcess[str]"]]:
    """A Pulumi project whose program is the given text, on the stand-in for the language host."""

    def make(text: str) -> Callable[..., "subprocess.CompletedProcess[str]"]:
        folder = tmp_path / "program"
        for name in ("state", "home", "bin"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "Pulumi.yaml").write_text("name: trivial\nruntime: python\n")
        (folder / "__main__.py").write_text(text)
        host = folder / "bin" / "pulumi-language-python"
        host.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P "{ROOT}/engine/languagehost.py" "$@"\n')
        host.chmod(0o755)
        environment = os.environ | {
            "PATH": f"{host.parent}:/usr/bin:/bin",
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{folder}/state",
            "PULUMI_CONFIG_PASSPHRASE": "trial",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }

        def pulumi(*arguments: str) -> "subprocess.CompletedProcess[str]":
            return subprocess.run(
                [engine, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
            )

        assert pulumi("stack", "init", "trial").returncode == 0
        return pulumi

    return make
