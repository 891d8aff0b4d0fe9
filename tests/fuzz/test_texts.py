"""Stack files that were cut, mixed up or never were any: the commands say what is wrong, in sentences."""

import contextlib
import io
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cli.main import main
from tests.fuzz.profile import examples
from tests.machineconfig.stacks import PATCHES

ROOT = PATCHES.parent
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("Pulumi.*.yaml"))]
COMMANDS = (["check"], ["draw", "--output", "json"], ["explain", "--stack", "x", "n", "machine.install"])
LINES = sorted({line for text in TEXTS for line in text.split("\n")})
PIECES = st.sampled_from(
    [*LINES, "", "- ", "  ", "\t", ": ", "&a", "*a", "<<: *a", "{", "]", "---", "!x", "%", "\x00", "é", "? ", "|"]
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """A stack file with a few of its lines cut, replaced or moved; now and then anything at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200))
    lines = draw(st.sampled_from(TEXTS)).split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        piece = draw(st.one_of(PIECES, st.text(max_size=8)))
        change = draw(st.integers(0, 3))
        if change == 0:
            lines[at : at + draw(st.integers(1, 5))] = []
            lines = lines or [""]
        elif change == 1:
            lines[at] = piece
        elif change == 2:
            lines.insert(at, piece)
        else:
            cut = draw(st.integers(0, len(lines[at])))
            lines[at] = lines[at][:cut] + piece + lines[at][cut + 1 :]
    return "\n".join(lines).encode(errors="surrogatepass")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(PATCHES, folder / "patches")
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    return folder


@examples(80)
@given(st.sampled_from(COMMANDS), texts())
@example(["check"], b"config:\n  ? [a]\n  : b\n")
def test_any_stack_file_is_answered_in_sentences(checkout: Path, command: list[str], text: bytes) -> None:
    (checkout / "Pulumi.x.yaml").write_bytes(text)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([command[0], "--project", str(checkout), *command[1:]])
    assert code in (0, 1, 2)
    assert "an internal error" not in err.getvalue()
    assert "Traceback" not in out.getvalue() + err.getvalue()
    assert code != 1 or err.getvalue().startswith("error: ")
