"""The folder beside the checkout that holds schemas and recordings of the real parts."""

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2] / "shared"


def shared(path: str) -> Path:
    """Return a file of the shared folder; where it is missing, CI fails and other machines skip the test."""
    file = _ROOT / path
    if not file.exists():
        message = f"../shared/{path} is missing beside the checkout"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return file
