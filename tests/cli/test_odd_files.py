"""Files of the checkout that are none, cannot be read or are broken: each is said, and stops nothing else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def link(path: Path) -> None:
    path.symlink_to("nowhere")


def denied(path: Path) -> None:
    """What only the kernel's own reader may read: to root, too, unlike a file of mode 000."""
    path.symlink_to("/proc/self/mem")


_THERE = "put the file itself there"


@pytest.mark.parametrize(
    ("make", "message", "cure"),
    [
        (link, "is a link to nowhere, which is not there", _THERE),
        (lambda path: path.symlink_to(path.name), "is a link to Pulumi.odd.yaml, which is not there", _THERE),
        (Path.mkdir, "is a folder, not a file", _THERE),
        (os.mkfifo, "is not a regular file", _THERE),
        (denied, "cannot be read: Input/output error", "make it readable"),
        (Path.touch, "holds no configuration: it must be a map with the key config", "correct the file"),
    ],
    ids=["dangling", "loop", "folder", "pipe", "unreadable", "empty"],
)
def test_a_stack_file_that_is_none_is_a_finding_of_its_own(
    make: Callable[[Path], object], message: str, cure: str, checkout: Path, run: Run
) -> None:
    make(checkout / "Pulumi.odd.yaml")
    code, out, err = run("check")
    assert (code, err) == (2, "")
    assert out == f"lab: nothing is wrong\nodd: 1 finding\n  Pulumi.odd.yaml: {message}; {cure}\n"
    for command in ("render", "draw", "explain"):
        arguments = ("lab-worker-01", "version") if command == "explain" else ()
        assert run(command, "--stack", "odd", *arguments) == (1, "", f"error: Pulumi.odd.yaml: {message}; {cure}\n")


def test_a_stack_file_that_may_not_be_read_is_a_finding_of_its_own(
    checkout: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "Pulumi.odd.yaml").touch()
    read = Path.read_text

    def refuse(path: Path, *arguments: str, **options: str) -> str:
        if path.name == "Pulumi.odd.yaml":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", refuse)
    code, out, _ = run("check")
    assert code == 2
    assert out.endswith("odd: 1 finding\n  Pulumi.odd.yaml: cannot be read: Permission denied; make it readable\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Pulumi.yaml: holds no project: it must be a map with the keys name and runtime"),
        ("- a\n", "Pulumi.yaml: holds no project: it must be a map with the keys name and runtime"),
        ("name: talos-stacks\nname: again\n", "Pulumi.yaml:2: is not YAML: the key name is there twice\n"),
        ("name: [\n", "Pulumi.yaml:1: is not YAML: did not find expected node content\n"),
        (
            "name: other\nruntime: { name: go }\n",
            "Pulumi.yaml:1: the project's name must be talos-stacks, with which keys of stack files begin\n"
            "  Pulumi.yaml:2: the project's runtime must be python\n",
        ),
        ("name: talos-stacks\n", "Pulumi.yaml: the project's runtime must be python\n"),
        ("name: talos-stacks\nruntime: python\n", ""),
    ],
)
def test_a_broken_project_file_is_refused(text: str, message: str, checkout: Path, run: Run) -> None:
    (checkout / "Pulumi.yaml").write_text(text)
    for arguments in (("check",), ("check", "--project", str(checkout)), ("draw",), ("schema", "--write")):
        code, out, err = run(*arguments)
        if not message:
            assert code == 0, err
            continue
        assert (code, out) == (1, "")
        assert (err.startswith(f"error: {message}") and "is not YAML" in err + message) or message in err


def test_a_project_file_that_is_not_text_is_refused(checkout: Path, run: Run) -> None:
    (checkout / "Pulumi.yaml").write_bytes(b"\xff\xfename")
    assert run("check") == (1, "", "error: Pulumi.yaml: is not UTF-8 text\n")


def test_a_current_folder_that_is_gone_is_said(checkout: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (gone := checkout / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run("check") == (1, "", "error: the folder that you are in is gone: change to another one\n")
    assert run("check", "--project", str(checkout))[:2] == (0, "lab: nothing is wrong\n")
    monkeypatch.chdir(checkout)
