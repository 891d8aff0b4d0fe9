"""What a stack goes through before a machine has its configuration, and what must never happen on the way."""

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from lab.machine.configuration import RefusedError, check
from machineconfig import ConfigError, Finding, Plan, PlanError, make_plan, render_cluster
from machineconfig.checks.configuration import made
from machineconfig.generation import arguments
from machinery import Bundle, generate_configuration, generate_secrets
from machinery import ConfigError as MachineryError
from topology import Node

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
    _told(lambda: make_plan(raw, patches=root, secret=lambda _: CANARY))
    plan = _told(lambda: make_plan(raw, patches=root))
    if plan is None:
        return False
    topology = plan.topology
    _say(*plan.warnings, repr(plan))
    try:
        rendered = render_cluster(topology, plan.facts, root=root, secret=lambda _: CANARY)
    except ConfigError as error:
        _say(str(error))
        raise LateRefusalError(f"the patches cannot be rendered with the secret's value: {error}") from None
    _say(repr(rendered))
    secrets = bundle(str(topology.versions.contract))
    for node in topology.nodes:
        patches = rendered[node.name]
        asked = any(patch.is_secret for patch in patches)
        try:
            text = generate_configuration(arguments(topology, node, patches, secrets))
            _, said = check(text)
        except (MachineryError, RefusedError) as error:
            if not asked:
                raise LateRefusalError(f"{node.name}: {error}") from None
            # Nobody knows before whether the value of a secret fits in its place: then another value must.
            _with_fitting_secrets(plan, node)
            continue
        _say(*said)
    return True


def _with_fitting_secrets(plan: Plan, node: Node) -> None:
    """The machine takes the configuration with such values in the place of secrets as preview has tried."""
    final = made(plan.topology, node, plan.patches[node.name])
    try:
        if isinstance(final, Finding):
            raise LateRefusalError(f"{node.name}: {final}")
        check(final.text)
    except RefusedError as error:
        raise LateRefusalError(f"{node.name}, whatever its secrets are: {error}") from None


def _told(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except PlanError as error:
        assert error.faults
        _say(*error.faults)
        for line in error.faults:
            assert "\n" not in line and line.isprintable(), f"{line!r} is more than a line"
        return None


def _say(*texts: str) -> None:
    for text in texts:
        if CANARY in text:
            raise LeakError(text)
