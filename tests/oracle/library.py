"""Talos's own library, asked: one program for each release of it (`talos/`, pinned in `releases/`), built once."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from engine.tools import ToolError
from engine.tools import cache as built_programs
from engine.tools.build import Plan, build

FOLDER = Path(__file__).parent
RELEASES = tuple(sorted(path.name for path in (FOLDER / "releases").iterdir()))
PROVIDER = "1.13.0"
"""The library inside the Talos provider: it makes configurations."""
MACHINES = ("1.12.4", "1.13.9")
"""The libraries inside machines: each reads and judges what its machines are given."""

NEXT = "1.14.1"
"""The library of the release that comes next."""

Question: TypeAlias = dict[str, Any]
Answer: TypeAlias = dict[str, Any]


@cache
def program(release: str) -> Path:
    """Return the program of a release, building it where it is missing; raises ToolError where that cannot be."""
    pins = FOLDER / "releases" / release
    sources = [*sorted((FOLDER / "talos").glob("*.go")), pins / "go.mod", pins / "go.sum"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    home = built_programs() / f"talos-library-{release}-{digest[:8]}"
    found = home / "talos-library"
    if not found.exists():
        source = home / "source"
        source.mkdir(parents=True, exist_ok=True)
        for path in sources:
            shutil.copyfile(path, source / path.name)
        plan = Plan(source, ".", found, "", "a minute", f"there is no program over Talos's library {release} yet")
        build(plan, lambda line: print(line, file=sys.stderr))  # noqa: T201
    return found


def ask(release: str, questions: Sequence[Question]) -> list[Answer]:
    """Return what a release answers to each question; skips the test where there is no Go, except in CI."""
    try:
        tool = program(release)
    except ToolError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"Talos's library cannot be asked: {error}")
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    said = subprocess.run([tool], input=lines, capture_output=True, text=True, encoding="utf-8", check=False)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    if len(answers) != len(questions):
        raise AssertionError(f"Talos {release} ends at question {questions[len(answers)]}: {said.stderr[:2000]}")
    return answers
