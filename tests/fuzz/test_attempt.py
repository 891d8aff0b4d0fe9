"""A fuzz test that sees nothing proves nothing: what it must see when a check is missing."""

import shutil
from pathlib import Path

import pytest

from machineconfig.checks import configuration
from tests.fuzz.attempt import LateRefusalError, attempt
from tests.machineconfig.stacks import PATCHES, raw, write

SECRET = "machine: {sysctls: {a: {{ secret('pw') | flow }}}}\n"


def tried(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> bool:
    """A preview that does not ask what Talos would refuse."""
    monkeypatch.setattr(configuration, "validate", lambda *_, **__: ())
    root = folder / "patches"
    shutil.copytree(PATCHES, root)
    return attempt(raw(), write(root, {f"all/9{at}-x.yaml.j2": text for at, text in enumerate(files.values())}))


def test_a_late_refusal_is_seen_beside_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LateRefusalError, match="nodeLabels"):
        tried(tmp_path, monkeypatch, secret=SECRET, wrong="machine: {nodeLabels: {'a b': ''}}\n")


def test_a_secret_whose_value_does_not_fit_is_nobodys_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "apiVersion: v1alpha1\nkind: BlackholeRouteConfig\nname: {{ secret('pw') | flow }}\n"
    assert tried(tmp_path, monkeypatch, secret=SECRET, wrong=wrong)
