"""What the lab says when a cluster is up."""

from pathlib import Path
from typing import Any

import pytest

from lab import control, report
from lab.run import Run

MACHINE: dict[str, Any] = {"name": "cp-1", "address": "127.0.0.1", "stage": "running", "role": "controlplane"}


@pytest.fixture
def summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(control, "machines", lambda **_: [MACHINE | {"talos": "v1.13.9", "etcd": None, "vips": []}])
    monkeypatch.setenv("PATH", str(tmp_path))

    def with_programs(*names: str) -> str:
        for name in names:
            (tmp_path / name).touch(mode=0o755)
        return report.summary(Run("lab", tmp_path / "runs"), 12.3)

    return with_programs


def test_programs_are_named_where_they_are(summary: Any) -> None:
    said = summary("talosctl", "kubectl")
    assert "a shell for pulumi, talosctl and kubectl\n" in said
    assert "Not on PATH" not in said


def test_one_that_is_not_there_is_not_promised(summary: Any) -> None:
    said = summary("kubectl")
    assert "a shell for pulumi and kubectl\n" in said
    assert "Not on PATH: talosctl, to use the credentials above with. In that shell you can also use:\n" in said
    assert ".venv/bin/talos-stacks diff --stack lab" in said


def test_without_either_it_is_a_shell_for_pulumi(summary: Any) -> None:
    said = summary()
    assert "a shell for pulumi\n" in said
    assert "Not on PATH: talosctl and kubectl, to use" in said
