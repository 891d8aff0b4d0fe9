"""Where programs come from that are not on PATH."""

import os
import re
from pathlib import Path

import pytest

from engine import tools
from engine.tools import PULUMI, ToolError, binary
from lab.tools import ETCD, TOOLS

Shown = list[str]


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on PATH but a shell's programs, and an empty cache."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bin").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", list(TOOLS))
def test_every_tool_is_pinned_with_checksums(name: str) -> None:
    tool = TOOLS[name]
    assert re.fullmatch(r"\d+\.\d+\.\d+", tool.version)
    assert f"{tool.module} v{tool.version} h1:" in (tool.folder / "go.sum").read_text()
    assert f"tool {tool.package}\n" in (tool.folder / "go.mod").read_text()


def test_a_program_on_path_is_used_when_its_version_fits(place: Path) -> None:
    wanted = script(place / "bin" / "pulumi", "echo v3.280.1")
    assert binary(PULUMI) == wanted


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("v3.237.9", "is pulumi 3.237.9, and 3.238.0 is needed, or a newer one of version 3"),
        ("v4.0.0", "is pulumi 4.0.0, and 3.238.0 is needed, or a newer one of version 3"),
        ("something else", "does not say its version"),
    ],
)
def test_another_version_on_path_is_named_and_passed_over(place: Path, said: str, reason: str) -> None:
    other = script(place / "bin" / "pulumi", f"echo {said}")
    built = script(place / "cache" / "talos-stacks" / "tools" / f"pulumi-{PULUMI.version}" / "pulumi", "")
    shown: Shown = []
    assert binary(PULUMI, shown.append) == built
    assert shown == [f"==> {other} {reason}; taking pulumi {PULUMI.version} instead"]


def test_an_engine_that_is_too_old_is_named_with_its_cure_where_no_other_can_be_built(place: Path) -> None:
    other = script(place / "bin" / "pulumi", "echo v3.100.0")
    with pytest.raises(ToolError) as caught:
        binary(PULUMI, lambda _: None)
    assert str(caught.value) == (
        f"{other} is pulumi 3.100.0, and 3.238.0 is needed, or a newer one of version 3, and Go, which would build"
        " pulumi, is missing: install Go (1.26.6 or newer, https://go.dev/dl), or a version of pulumi that fits"
    )


def test_a_program_without_a_version_of_its_own_is_known_by_what_it_was_built_from(place: Path) -> None:
    record = "dep\\tgithub.com/pulumi/pulumi/pkg/v3\\tv3.274.1"
    wanted = script(place / "bin" / "pulumi", f"echo; exit\n{record}".replace("\\t", "\t"))
    assert binary(PULUMI) == wanted


def test_without_go_it_says_what_to_install(place: Path) -> None:
    with pytest.raises(
        ToolError, match=r"etcd is not on PATH, and Go, .* is missing: install Go \(1\.25\S* or newer, "
    ):
        binary(ETCD)


def test_a_missing_program_is_built_once_from_its_pinned_module(place: Path) -> None:
    log = place / "log"
    script(
        place / "bin" / "go",
        f'echo "$GOFLAGS $*" >> {log}\nwhile [ "$1" != -o ]; do shift; done\necho built > "$2"\n'
        "i=0; while [ $i -lt 250 ]; do i=$((i+1)); echo package$i; done >&2",
    )
    shown: Shown = []
    program = binary(ETCD, shown.append)
    assert program.read_text() == "built\n"
    assert binary(ETCD, shown.append) == program
    (line,) = log.read_text().splitlines()
    assert line.startswith("-mod=readonly") or " -mod=readonly" in line
    assert line.endswith(ETCD.package)
    assert shown[0].startswith(f"==> building etcd-{ETCD.version}, once")
    assert [text for text in shown if "package" in text] == ["    100 package100", "    200 package200"]


def test_a_failed_build_shows_its_end_and_leaves_nothing(place: Path) -> None:
    script(place / "bin" / "go", "echo go: no such version >&2; exit 1")
    with pytest.raises(ToolError, match="the build failed; the last lines were:\n  go: no such version"):
        binary(ETCD, lambda _: None)
    assert not [path for path in (place / "cache").rglob("*") if path.is_file() and path.name != ".lock"]


def test_a_go_that_cannot_be_started_is_named(place: Path) -> None:
    broken = script(place / "bin" / "go", "")
    broken.write_text("#!/nowhere/sh\n")
    with pytest.raises(ToolError, match=f"{broken} is on PATH and cannot be started .*; repair it, or install Go"):
        binary(ETCD, lambda _: None)


def test_a_plain_build_is_what_the_engine_is_taken_from(engine: Path) -> None:
    assert tools.version_of(PULUMI, engine) is not None
    assert os.access(engine, os.X_OK)
