"""The final configurations of a stack's nodes, made offline from its files by the provider that preview uses."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from cli.errors import CliError
from cli.provider import Generate
from cli.stackfile import StackFile
from cli.state import State
from machineconfig import ConfigError as RenderingError
from machineconfig import Patch, Plan, PlanError, make_plan, render_cluster
from machineconfig.generation import arguments, given
from machineconfig.marks import VARIANTS, Mask, mask, placeholder, placeholder_bundle, twin_bundle
from machineconfig.origins import Origins, origins
from machineconfig.trace import Origin
from machinery import Bundle, ConfigError, GenerateArgs
from topology import Fault, Node

_LEAST = 4
"""Characters of a secret: less would hide everything."""


@dataclass(frozen=True)
class Prepared:
    """A checked stack with the secrets to make configurations with: placeholders, or the real ones from its state."""

    file: StackFile
    plan: Plan
    bundle: Bundle = field(repr=False)
    mask: Mask = field(repr=False)
    twins: tuple[int, ...]
    """The variants of placeholders that it is not made with itself."""

    @property
    def stack(self) -> str:
        """The stack's name."""
        return self.file.name

    def node(self, name: str) -> Node:
        """A node by its name; raises CliError with the names that are near."""
        names = [node.name for node in self.plan.topology.nodes]
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or names[:5]
            raise CliError(f"the stack {self.stack} has no node {name}; there is {', '.join(near)}")
        return self.plan.topology.node(name)

    def nodes(self, names: Sequence[str]) -> tuple[Node, ...]:
        """The nodes that --node names, or all of them, in the order of the stack file."""
        wanted = {self.node(name).name for name in names}
        return tuple(node for node in self.plan.topology.nodes if not wanted or node.name in wanted)

    def patches(self, node: Node) -> tuple[Patch, ...]:
        """The rendered patches, in the order in which they apply."""
        return self.plan.patches[node.name]

    def final(self, node: Node, generate: Generate) -> str:
        """The final configuration, with its secrets; raises CliError."""
        try:
            return generate(self._arguments(node))
        except (CliError, ConfigError) as error:
            raise self._refused(node, error) from None

    def twin_finals(self, node: Node, generate: Generate) -> Iterator[str | None]:
        """The same with other secrets, once for each set of placeholders; None where that cannot be made."""
        for variant, patches in self._twin_patches.items():
            try:
                bundle = twin_bundle(self.bundle, variant)
                yield generate(arguments(self.plan.topology, node, patches[node.name], bundle))
            except (CliError, ConfigError, LookupError):
                yield None

    def origins(self, node: Node) -> Origins:
        """Where every value comes from; raises CliError."""
        try:
            return origins(self._arguments(node), self.patches(node), self._given(node))
        except ConfigError as error:
            raise self._refused(node, error) from None

    def _refused(self, node: Node, error: Exception) -> CliError:
        real = 0 in self.twins and any(patch.is_secret for patch in self.patches(node))
        said = "is refused with the real values of its secrets; why is not shown, as it could hold one"
        return CliError(f"{node.name}: {said if real else self.mask.text(str(error))}")

    @cached_property
    def _twin_patches(self) -> Mapping[int, Mapping[str, tuple[Patch, ...]]]:
        plan, found = self.plan, dict[int, Mapping[str, tuple[Patch, ...]]]()
        for variant in self.twins:
            secret = partial(placeholder, variant=variant)
            try:
                found[variant] = render_cluster(plan.topology, root=self.file.patches, secret=secret)
            except RenderingError:
                found[variant] = {}
        return found

    def _given(self, node: Node) -> dict[tuple[str | int, ...], Origin]:
        """The lines of the stack file for what Talos generates from it."""
        name, lines = self.file.path.name, self.file.lines
        found = {}
        for path, keys in given(self.plan.topology, node).items():
            key = next((key for key in keys if key in lines), keys[-1])
            found[path] = Origin(name, self.file.line_of(key), folder="")
        return found

    def _arguments(self, node: Node) -> GenerateArgs:
        return arguments(self.plan.topology, node, self.patches(node), self.bundle)


def prepare(stack: StackFile, state: State | None = None) -> Prepared:
    """Render and check a stack; raises CliError with every fault. Without `state` its secrets are placeholders."""
    secret = state.secret if state else placeholder
    bundle = state.bundle if state else placeholder_bundle()
    try:
        plan = make_plan(stack.cluster, patches=stack.patches, secret=secret)
    except PlanError as error:
        faults = _withheld(stack, error, state) if state else _masked(stack, error)
        noun = "fault" if len(faults) == 1 else "faults"
        raise CliError("\n".join([f"{stack.path.name}: {len(faults)} {noun}", *faults])) from None
    # What no patch asks for now a machine may still run with.
    names = {*plan.secrets, *((name for name, value in state.config.items() if len(value) >= _LEAST) if state else ())}
    return Prepared(stack, plan, bundle, mask(bundle, names, secret), VARIANTS[0 if state else 1 :])


def _masked(stack: StackFile, error: PlanError, state: State | None = None) -> list[str]:
    """The faults, without values of secrets: a finding may quote what a patch says."""
    known = {*(state.config if state else stack.secrets), *(error.plan.secrets if error.plan else ())}
    secret, bundle = (state.secret, state.bundle) if state else (placeholder, placeholder_bundle())
    return list(map(mask(bundle, known, secret).text, error.faults))


def _withheld(stack: StackFile, error: PlanError, state: State) -> list[str]:
    """The same with real secrets: only what is said with placeholders too. Of the others, the place alone."""
    openly: list[str] = []
    try:
        make_plan(stack.cluster, patches=stack.patches, secret=placeholder)
    except PlanError as other:
        openly = _masked(stack, other)
    shown = dict(zip(error.faults, _masked(stack, error, state), strict=True))
    message = "is refused with the real value of a secret; why is not shown, as it could hold the value"
    lines = (
        shown[str(found)] if isinstance(found, Fault) or shown[str(found)] in openly else str(found.withheld(message))
        for found in error.found
    )
    return list(dict.fromkeys(lines))
