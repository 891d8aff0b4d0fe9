"""The journal: in order, flushed, and without a secret."""

import base64
import json
from pathlib import Path

from lab.journal import Journal

KEY = "-----BEGIN ED25519 PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ0123456789abcdefghijklmnopqrstuvwxyzABCDEF\n-----END"


def lines(journal: Journal) -> list[dict[str, object]]:
    return [json.loads(line) for line in journal.path.read_text().splitlines()]


def test_entries_are_lines_in_order_as_soon_as_they_are_recorded(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run" / "journal.jsonl")
    journal.record("boot", "a", version="v1.13.9")
    journal.record("boot", "b")
    assert [(entry["n"], entry["machine"], entry["event"]) for entry in lines(journal)] == [
        (0, "a", "boot"),
        (1, "b", "boot"),
    ]
    assert lines(journal)[0]["version"] == "v1.13.9"
    assert (journal.path.stat().st_mode & 0o777) == 0o600


def test_a_known_secret_is_replaced_and_reported(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.keep_secret(["abcdef.0123456789abcdef"])
    journal.record("call", "a", error="token abcdef.0123456789abcdef is wrong")
    assert "0123456789abcdef" not in journal.path.read_text()
    assert journal.violations()[0]["invariant"] == "secret in a log"
    assert journal.violations()[0]["machine"] == "a"


def test_a_private_key_is_replaced_in_clear_and_in_base64(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record("call", "a", error=KEY)
    journal.record("call", "a", error=base64.b64encode(KEY.encode()).decode())
    assert "MC4CAQAw" not in journal.path.read_text()
    assert "LS0tLS1CRUdJTi" not in journal.path.read_text()
    assert len(journal.violations()) == 2


def test_a_key_that_is_cut_off_or_deep_inside_an_entry_is_replaced_too(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record("call", "a", tried=[{"with": KEY[:60]}, 7], path=tmp_path)
    assert "MC4CAQAw" not in journal.path.read_text()
    assert lines(journal)[0]["tried"] == [{"with": "[redacted]"}, 7]


def test_the_lines_of_a_key_are_known_without_their_frame(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.keep_secret([base64.b64encode(KEY.encode()).decode()])
    assert journal.leaks("so: MC4CAQAwBQYDK2VwBCIEIJ0123456789abcdefghijklmnopqrstuvwxyzABCDEF")
    assert not journal.leaks("nothing of interest")


def test_nothing_is_written_after_the_end(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.record("boot", "a")
    journal.record("boot", "b")
    assert len(lines(journal)) == 1
