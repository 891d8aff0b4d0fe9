"""Credentials for operators: what is handed out, what is noted, what is refused. Machines are asked in tests/lab."""

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from cli import access, audit, state
from cli.main import main
from machinery import Bundle, generate_secrets
from talosapi import Credentials

SECRETS = generate_secrets()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, an audit in it, and a state without an engine."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(state, "read", lambda _: state.State(SECRETS, Credentials(b"", b"", b""), {}))
    return tmp_path


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in audit.file().read_text().splitlines()] if audit.file().exists() else []


def certificate(talosconfig: str) -> x509.Certificate:
    found = yaml.safe_load(talosconfig)
    context = found["contexts"][found["context"]]
    return x509.load_pem_x509_certificate(base64.b64decode(context["crt"]))


def secrets_in(bundle: Bundle) -> list[str]:
    return [bundle.os.key.splitlines()[1], bundle.cluster_secret, bundle.bootstrap_token, "PRIVATE KEY"]


def test_without_options_it_is_a_reader_for_eight_hours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["access", "--stack", "homelab"]) == 0
    out, err = capsys.readouterr()
    found = yaml.safe_load(out)
    context = found["contexts"]["reader@homelab"]
    assert found["context"] == "reader@homelab"
    assert context["endpoints"] == ["192.168.1.121"]
    assert context["nodes"] == ["192.168.1.121", "192.168.1.122", "192.168.1.123"]
    made = certificate(out)
    assert made.subject.rfc4514_string() == "O=os:reader"
    assert timedelta(hours=7.9) < made.not_valid_after_utc - datetime.now(UTC) < timedelta(hours=8.01)
    assert err.startswith("os:reader of homelab until ")
    assert base64.b64decode(context["ca"]).decode() == SECRETS.os.crt


def test_every_issue_is_a_line_in_the_audit_without_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    main(["access", "--stack", "homelab"])
    arguments = ["--role", "os:operator", "--lifetime", "30m", "--user", "jane", "--node", "talos-worker-01"]
    main(["access", "--stack", "homelab", *arguments])
    first, second = lines()
    assert (first["role"], first["lifetime"], first["nodes"]) == ("os:reader", 8 * 3600, "all")
    assert first["user"] == first["issuedBy"] == second["issuedBy"]
    assert (second["user"], second["role"], second["lifetime"]) == ("jane", "os:operator", 1800)
    assert (second["stack"], second["cluster"], second["nodes"]) == ("homelab", "homelab", ["talos-worker-01"])
    made = certificate(capsys.readouterr().out.split("context: ")[-1].join(["context: ", ""]))
    assert int(second["serial"], 16) == made.serial_number
    text = audit.file().read_text()
    assert not [secret for secret in secrets_in(SECRETS) if secret in text]
    assert audit.file().stat().st_mode & 0o777 == 0o600


def test_a_file_is_new_and_readable_by_its_owner_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "reader.yaml"
    assert main(["access", "--stack", "homelab", "--out", str(out)]) == 0
    assert out.stat().st_mode & 0o777 == 0o600
    assert certificate(out.read_text()).subject.rfc4514_string() == "O=os:reader"
    assert capsys.readouterr().out == ""
    assert list(folder.glob(".*")) == []


def test_a_file_that_is_there_is_kept_and_nothing_is_issued(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "reader.yaml"
    out.write_text("mine")
    assert main(["access", "--stack", "homelab", "--out", str(out)]) == 1
    assert f"{out} already exists; name another file, or replace it with --force" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert lines() == []


def test_force_replaces_a_file_and_neither_its_rights_nor_its_link(folder: Path) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.write_text("mine")
    out = folder / "reader.yaml"
    out.symlink_to(elsewhere)
    assert main(["access", "--stack", "homelab", "--out", str(out), "--force"]) == 0
    assert elsewhere.read_text() == "mine"
    assert not out.is_symlink()
    assert out.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_noted_is_not_issued(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "state").write_text("no folder")
    assert main(["access", "--stack", "homelab"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "nothing was issued, because it cannot be noted in" in err


def test_a_node_that_is_not_there_is_named_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["access", "--stack", "homelab", "--node", "talos-worker-9"]) == 1
    expected = (
        "there is no node talos-worker-9 in homelab; there are: talos-controlplane-01, talos-worker-01, talos-gpu"
    )
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "span"), [("1m", timedelta(minutes=1)), ("8h", timedelta(hours=8)), ("7d", timedelta(days=7))]
)
def test_a_lifetime_is_minutes_hours_or_days(text: str, span: timedelta) -> None:
    assert access.lifetime(text) == span


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("8d", "8d is longer than 7d: issue another one when this one has expired"),
        ("169h", "169h is longer than 7d"),
        ("999999d", "999999d is longer than 7d"),
        *(
            (text, "is not a lifetime: write it as 30m, 8h or 2d")
            for text in ("", "0h", "8", "-1h", "8H", "1h30m", "٣h")
        ),
    ],
)
def test_another_lifetime_is_refused(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["access", f"--lifetime={text}"])
    assert said in capsys.readouterr().err


def test_a_role_that_talos_does_not_have_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["access", "--role", "os:root"])
    assert "invalid choice: 'os:root'" in capsys.readouterr().err


def test_an_account_without_a_name_has_to_say_who_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr("getpass.getuser", unknown)
    assert main(["access", "--stack", "homelab"]) == 1
    assert "--user" in capsys.readouterr().err and not lines()
    assert main(["access", "--stack", "homelab", "--user", "jane"]) == 0
    assert [(line["user"], line["issuedBy"]) for line in lines()] == [("jane", "an account without a name")]


def test_an_audit_that_others_could_read_is_closed_to_them() -> None:
    audit.file().parent.mkdir(parents=True)
    audit.file().touch(0o644)
    assert main(["access", "--stack", "homelab"]) == 0
    assert len(lines()) == 1 and audit.file().stat().st_mode & 0o077 == 0


def test_an_audit_that_is_a_link_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit.file().parent.mkdir(parents=True)
    audit.file().symlink_to(tmp_path / "elsewhere")
    assert main(["access", "--stack", "homelab"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "nothing was issued" in err and not (tmp_path / "elsewhere").exists()


def test_json_is_the_line_of_the_audit_with_the_talosconfig(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["access", "--stack", "homelab", "--output", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert certificate(found.pop("talosconfig")).subject.rfc4514_string() == "O=os:reader"
    assert found.pop("audit") == str(audit.file()) and found == lines()[0]
    out = folder / "reader.yaml"
    assert main(["access", "--stack", "homelab", "--output", "json", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert json.loads(said)["talosconfig"] == str(out) and "key:" not in said
    assert certificate(out.read_text())
