"""What becomes of a stack that imports real machine secrets."""

from typing import Any

import pytest

from lab.project import make_up_machine_secrets

KEY = "talos-stacks:cluster"


def test_the_lab_makes_secrets_up_unless_it_is_told_to_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_IMPORT", raising=False)
    config: dict[str, Any] = {KEY: {"secrets": {"importFrom": "secrets.yaml"}}}
    make_up_machine_secrets(config)
    assert config == {KEY: {"secrets": {"generate": True}}}


def test_it_imports_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_IMPORT", "yes")
    config: dict[str, Any] = {KEY: {"secrets": {"importFrom": "secrets.yaml"}}}
    make_up_machine_secrets(config)
    assert config == {KEY: {"secrets": {"importFrom": "secrets.yaml"}}}
