"""What a stack goes through before a machine has its configuration, and what must never happen on the way."""

import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from lab.machine.configuration import RefusedError, check
from machineconfig import Patch, PlanError, make_plan
from machineconfig.generation import arguments
from machineconfig.placeholder import filled
from machinery import Bundle, generate_configuration, generate_secrets
from machinery import ConfigError as MachineryError
from machinery.problems import Problem

CANARY = "hunter2-canary"


class LeakError(AssertionError):
    """Something that was said holds a secret."""


class LateRefusalError(AssertionError):
    """A preview passes, and the machine refuses what comes of it."""


@cache
def bundle(contract: str) -> Bundle:
    """The secrets of a cluster."""
    return generate_secrets(contract)


def attempt(raw: Any, root: Path) -> bool:
    """Preview and apply; True when the machine takes it, False when the preview refuses it with a line for each fault.

    Everything else is an error: a traceback, a secret in what is said, a machine that refuses what preview let pass.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        accepted = _attempt(raw, root)
    _say(*(str(each.message) for each in caught))
    return accepted


def _attempt(raw: Any, root: Path) -> bool:
    plan = _told(lambda: make_plan(raw, patches=root))
    if plan is None:
        return False
    topology = plan.topology
    _say(*plan.warnings, repr(plan))
    values = dict.fromkeys(plan.secrets, CANARY)
    rendered = {name: [filled(patch, values) for patch in patches] for name, patches in plan.patches.items()}
    _say(repr(rendered))
    secrets = bundle(str(topology.versions.contract))
    for node in topology.nodes:
        patches = rendered[node.name]
        asked = any(patch.is_secret for patch in patches)
        try:
            text = generate_configuration(arguments(topology, node, patches, secrets))
            _, said = check(text)
        except (MachineryError, RefusedError) as error:
            # Nobody knows before whether the value of a secret fits in its place; everything else is known.
            if asked and all(_is_about_the_secret(problem, patches) for problem in _problems(error)):
                continue
            raise LateRefusalError(f"{node.name}: {error}") from None
        _say(*said)
    return True


def _problems(error: MachineryError | RefusedError) -> tuple[Problem, ...]:
    cause = error if isinstance(error, MachineryError) else error.__cause__
    assert isinstance(cause, MachineryError)
    return cause.problems


def _is_about_the_secret(problem: Problem, patches: Iterable[Patch]) -> bool:
    """Whether a patch that asks for the secret says something at the place of a problem, or around it."""
    names = [part for part in problem.path if isinstance(part, str)]
    return CANARY in str(problem) or any(
        patch.is_secret and all(name in patch.text for name in names) for patch in patches
    )


def _told(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except PlanError as error:
        assert error.lines
        _say(*error.lines)
        for line in error.lines:
            assert "\n" not in line and line.isprintable(), f"{line!r} is more than a line"
        return None


def _say(*texts: str) -> None:
    for text in texts:
        if CANARY in text:
            raise LeakError(text)
