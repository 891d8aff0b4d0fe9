"""What the library is asked about: the recorded cases, the repo's own stacks, every text of the tests."""

import ast
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

from machineconfig.generation import arguments as arguments_of
from machinery import ConfigError, GenerateArgs, generate_configuration
from tests.machineconfig import golden as stacks
from tests.machinery import golden, texts
from tests.oracle.compare import Make, Read
from tests.oracle.library import MACHINES
from tests.oracle.patches import KINDS, LINES, patches, places_of_scalars

WANT = os.environ.get("WANT", "")
TESTS = Path(__file__).parents[1]


def recorded() -> list[Make | Read]:
    """The recorded answers of the real provider, and each configuration read by a machine of every release."""
    return with_readings([Make(f"recorded {case['name']}", golden.arguments(case)) for case in golden.CASES])


def of_stacks() -> list[Make | Read]:
    """Every node of every stack file of the repo with its patches, placeholders in the place of secrets."""
    pairs = []
    for stack, topology in stacks.stacks().items():
        for name, given in stacks.patches_of(topology).items():
            args = arguments_of(topology, topology.node(name), given, golden.BUNDLE)
            pairs.append(Make(f"{stack} {name}", args))
            pairs += [Make(f"{stack} {name} {patch.source}", replace(args, patches=(patch.text,))) for patch in given]
    return with_readings(pairs)


def of_tests() -> list[Make | Read]:
    """Every text in the tests that could be a patch, on both machine types, and every file that is a configuration."""
    found = {text: place for path in sorted(TESTS.rglob("*.py")) for place, text in _texts(path)}
    pairs = with_readings([make for text, place in found.items() for make in patched(place, text)])
    for path in sorted(TESTS.rglob("*.yaml")):
        pairs += readings(str(path.relative_to(TESTS)), path.read_text(encoding="utf-8"))
    return pairs


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _could_be_a_patch(node.value):
            yield f"{path.relative_to(TESTS)}:{node.lineno}", dedent(node.value)


def _could_be_a_patch(text: str) -> bool:
    return ":" in text and ("\n" in text or text.lstrip().startswith(("{", "["))) and len(text) < 1 << 16


def patched(place: str, *patches: str) -> list[Make]:
    """Return a control plane of the newest contract (two documents) and a worker of an older one (one document)."""
    return [
        Make(f"{place} on {kind} {version}", texts.arguments(*patches, machine_type=kind, talos_version=version))
        for kind, version in (("controlplane", "v1.13"), ("worker", "v1.11"))
    ]


def with_readings(makes: list[Make]) -> list[Make | Read]:
    """Add what machines say to each configuration that can be made."""
    pairs: list[Make | Read] = [*makes]
    for make in makes:
        text = _made(make.args)
        if text is not None:
            pairs += readings(make.name, text)
    return pairs


def _made(args: GenerateArgs) -> str | None:
    try:
        return generate_configuration(args)
    except ConfigError:
        return None
    except Exception:  # the comparison says it
        return None


def readings(name: str, text: str) -> list[Read]:
    """Return a text as it is read by the machines of every release."""
    return [Read(f"{name} read", text, release) for release in MACHINES]


def at_random(seed: int, count: int) -> list[Make | Read]:
    """Return random patches, alone and one after the other, and what machines make of the same texts."""
    pairs: list[Make | Read] = []
    for number in range(count):
        texts_of_it = patches(seed, number)
        place = f"random {seed}/{number}"
        pairs += with_readings(patched(place, *texts_of_it)[number % 2 :][:1])
        pairs.append(Read(f"{place} read", texts_of_it[0], MACHINES[-1]))
    return pairs


def of_oddities(step: int) -> list[Make | Read]:
    """Every so manyth of: each oddity in each place, each word of each kind of scalar, each expression everywhere."""
    found = [place.replace("@", word) + "\n" for place in LINES["places"] for word in (*LINES["odd"], *LINES["keys"])]
    found += [json.loads(f'"{head}"') + "machine: {token: a}\n" for head in LINES["heads"]]
    for kind, places in places_of_scalars().items():
        words = [json.dumps(line) for line in LINES["cel"]] if kind == "cel" else KINDS.get(kind, ())
        found += [place.replace("@", word) for place in places for word in words]
    return with_readings([make for text in [*dict.fromkeys(found)][::step] for make in patched(text, text)[:1]])
