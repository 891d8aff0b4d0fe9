"""The same question to `machinery/` and to Talos's library, and where the two answers differ."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from machinery import ConfigError, GenerateArgs, generate_configuration, parse_configuration, validate
from machinery.base import INSTALLER
from machinery.secrets import write_secrets_yaml
from tests.oracle.library import PROVIDER, Answer, Question, ask

MODES = ("metal", "cloud")
DISK = "/dev/sda"  # as the provider asks for it


@dataclass(frozen=True)
class Make:
    """A configuration to generate: what the provider's library makes of some arguments and patches."""

    name: str
    args: GenerateArgs
    release = PROVIDER

    @property
    def question(self) -> Question:
        """What the library is asked."""
        args = self.args
        made = {
            "clusterName": args.cluster_name,
            "endpoint": args.cluster_endpoint,
            "kubernetes": args.kubernetes_version.removeprefix("v"),
            "contract": args.talos_version,
            "machineType": args.machine_type,
            "secrets": write_secrets_yaml(args.machine_secrets),
            "disk": DISK,
            "image": INSTALLER,
        }
        return {"make": made, "patches": list(args.patches)}

    def ours(self) -> Answer:
        """What machinery/ answers, in the library's words where it takes the question."""
        try:
            return {"text": generate_configuration(self.args)}
        except ConfigError as error:
            return {"error": str(error)}


@dataclass(frozen=True)
class Read:
    """A configuration to read, write again and judge: what a machine's library says to it."""

    name: str
    text: str
    release: str

    @property
    def question(self) -> Question:
        """What the library is asked."""
        return {"read": self.text, "modes": MODES}

    def ours(self) -> Answer:
        """What machinery/ answers, in the library's words where it takes the question."""
        try:
            configuration = parse_configuration(self.text, f"v{self.release}")
            return {"text": configuration.text, "judgements": {mode: _judged(configuration, mode) for mode in MODES}}
        except ConfigError as error:
            return {"error": str(error)}


def _judged(configuration: Any, mode: str) -> dict[str, Any]:
    try:
        return {"warnings": list(validate(configuration, mode))}
    except ConfigError as error:
        return {"error": str(error)}


@dataclass(frozen=True)
class Difference:
    """One pair of answers that are not equal."""

    name: str
    what: str
    question: Question = field(repr=False)


def differences(pairs: Sequence[Make | Read]) -> list[Difference]:
    """Return where the answers differ: taken or refused, the text, the judgement in each mode."""
    found: list[Difference] = []
    for release in sorted({pair.release for pair in pairs}):
        asked = [pair for pair in pairs if pair.release == release]
        questions = [pair.question for pair in asked]
        for pair, question, theirs in zip(asked, questions, ask(release, questions), strict=True):
            what = "; ".join(_compared(_ours(pair), theirs))
            if what:
                found.append(Difference(pair.name, f"Talos {release}: {what}", question))
    return found


def _ours(pair: Make | Read) -> Answer:
    try:
        return pair.ours()
    except Exception as error:  # whatever it is, it is a difference to say and not the end of the comparison
        return {"error": "", "crash": repr(error)}


def _compared(ours: Answer, theirs: Answer) -> Iterable[str]:
    if "crash" in ours:
        yield f"machinery ends with {ours['crash']}"
    elif ("error" in ours) != ("error" in theirs):
        yield _refusals("", ours, theirs)
    elif "error" not in ours:
        if ours["text"] != theirs["text"]:
            yield "the text is another one: " + first_difference(ours["text"], theirs["text"])
        for mode, judged in ours.get("judgements", {}).items():
            other = theirs["judgements"][mode]
            if ("error" in judged) != ("error" in other):
                yield _refusals(f"{mode}: ", judged, other)
            elif "error" not in judged and len(judged["warnings"]) != len(other.get("warnings", ())):
                yield f"{mode}: machinery warns {judged['warnings']}, Talos {other.get('warnings', [])}"


def _refusals(where: str, ours: Answer, theirs: Answer) -> str:
    if "error" in ours:
        return f"{where}machinery refuses, Talos does not: {ours['error']}"
    return f"{where}machinery takes it, Talos refuses: {theirs['error']}"


def first_difference(ours: str, theirs: str) -> str:
    """Return the first lines that differ."""
    left, right = ours.splitlines(), theirs.splitlines()
    at = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return f"line {at + 1}: {left[at : at + 2]} and {right[at : at + 2]}"
