"""An engine that would not stop a rollout is refused before anything is planned."""

from pathlib import Path

import grpc
import pulumi
import pytest
from pulumi.runtime.proto import engine_pb2

from components.sdk import REQUIRED, require_engine
from engine import ROOT
from engine.tools import PULUMI, dotted
from machinery.yaml import load


class Engine:
    """Answers as an engine of some version does."""

    def __init__(self, refusal: grpc.RpcError | None = None) -> None:
        self.refusal = refusal
        self.asked = ""

    def RequirePulumiVersion(self, request: engine_pb2.RequirePulumiVersionRequest) -> None:  # noqa: N802
        self.asked = request.pulumi_version_range
        if self.refusal:
            raise self.refusal


class Refusal(grpc.RpcError):
    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        self._code, self._details = code, details

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._details


def under(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pulumi.runtime.settings.get_engine", lambda: engine)
    require_engine()


def test_an_engine_that_fits_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    under(engine, monkeypatch)
    assert engine.asked == REQUIRED


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (Refusal(grpc.StatusCode.UNKNOWN, "Pulumi CLI version 3.237.0 does not satisfy the version range"), "3.237.0"),
        (Refusal(grpc.StatusCode.UNIMPLEMENTED, ""), "does not support the `RequirePulumiVersion` RPC"),
    ],
    ids=["too old", "too old to be asked"],
)
def test_one_that_is_too_old_is_refused_with_the_cure(
    refusal: grpc.RpcError, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(pulumi.RunError) as caught:
        under(Engine(refusal), monkeypatch)
    assert reason in str(caught.value)
    assert "do not stop a rollout that fails" in str(caught.value)
    assert str(caught.value).endswith("; update it, or run `.venv/bin/python -m engine` in its place")


def test_the_project_file_and_the_engine_on_path_are_held_to_the_same_version() -> None:
    project = load(Path(ROOT / "Pulumi.yaml").read_text())[0]
    assert project["requiredPulumiVersion"] == REQUIRED == f">={dotted(PULUMI.oldest)}"
