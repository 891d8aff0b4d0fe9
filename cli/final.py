"""The final configurations of a stack's nodes, made offline from its files by the provider that preview uses."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli.errors import CliError
from cli.provider import Generate
from cli.stackfile import StackFile
from machineconfig import Patch, Plan, PlanError, make_plan
from machineconfig.checks import check_all
from machineconfig.generation import arguments, given
from machineconfig.model import withheld
from machineconfig.origins import Origins, origins
from machineconfig.placeholder import all_shown, filled, like, machine_secrets, placeholder_bundle
from machineconfig.trace import Origin
from machinery import Bundle, ConfigError, GenerateArgs
from topology import Node

if TYPE_CHECKING:  # without a state, the client of machines need not be loaded
    from cli.state import State


@dataclass(frozen=True)
class Prepared:
    """A checked stack with the secrets to make configurations with: placeholders, or the real ones from its state."""

    file: StackFile
    plan: Plan
    bundle: Bundle = field(repr=False)
    values: Mapping[str, str] | None = field(default=None, repr=False)
    """The real values of the secrets by name; without them the bundle is placeholders too."""
    known: tuple[str, ...] = field(default=(), repr=False)
    """All real secrets: what no patch asks for now a machine may still run with."""

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

    @property
    def is_open(self) -> bool:
        """Whether placeholders stand for all secrets."""
        return self.values is None

    def patches(self, node: Node) -> tuple[Patch, ...]:
        """The rendered patches, in the order in which they apply."""
        patches = self.plan.patches[node.name]
        return patches if self.values is None else tuple(filled(patch, self.values) for patch in patches)

    def final(self, node: Node, generate: Generate) -> str:
        """The final configuration, with its secrets; raises CliError."""
        try:
            return generate(self._arguments(node))
        except (CliError, ConfigError) as error:
            raise self._refused(node, error) from None

    def without_secrets(self, node: Node, generate: Generate) -> str | None:
        """The same with placeholders for all secrets; None where that cannot be made."""
        try:
            return generate(arguments(self.plan.topology, node, self.plan.patches[node.name], like(self.bundle)))
        except (CliError, ConfigError):
            return None

    def origins(self, node: Node) -> Origins:
        """Where every value comes from; raises CliError."""
        try:
            return origins(self._arguments(node), self.patches(node), self._given(node))
        except ConfigError as error:
            raise self._refused(node, error) from None

    def _refused(self, node: Node, error: Exception) -> CliError:
        real = not self.is_open and any(patch.is_secret for patch in self.patches(node))
        said = "is refused with the real values of its secrets; the reason could contain one, so it is not shown"
        return CliError(f"{node.name}: {said if real else self._without_machine_secrets(str(error))}")

    def _without_machine_secrets(self, text: str) -> str:
        for value, name in machine_secrets(self.bundle):
            text = text.replace(value, name)
        return all_shown(text)

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


def prepare(stack: StackFile, state: "State | None" = None) -> Prepared:
    """Render and check a stack; raises CliError with every fault. Without `state` its secrets are placeholders."""
    try:
        plan = make_plan(stack.cluster, patches=stack.patches)
    except PlanError as error:
        raise _faulty(stack, error.lines) from None
    if state is None:
        return Prepared(stack, plan, placeholder_bundle())
    if faults := tuple(_unfit(plan, state)):
        raise _faulty(stack, faults)
    known = (*state.config.values(), *(value for value, _ in machine_secrets(state.bundle)))
    return Prepared(stack, plan, state.bundle, state.config, known)


def _faulty(stack: StackFile, faults: Sequence[str]) -> CliError:
    noun = "fault" if len(faults) == 1 else "faults"
    return CliError("\n".join([f"{stack.path.name}: {len(faults)} {noun}", *faults]))


def _unfit(plan: Plan, state: "State") -> Iterator[str]:
    """Which real secrets are not there, and where one does not fit: why is not said, as it could hold the value."""
    for name, file in plan.secrets.items():
        if name not in state.config:
            cure = f"set it with `pulumi config set --secret {name} --stack STACK`"
            yield f"{file}: asks for a secret that the stack does not have: {name}; {cure}"
    whole = {name: [filled(patch, state.config) for patch in patches] for name, patches in plan.patches.items()}
    message = "is refused with the real value of a secret; the reason could contain the value, so it is not shown"
    found = check_all(plan.topology, whole, complete=False).found
    yield from dict.fromkeys(str(withheld(each, message)) for each in found if not each.place.is_in_a_stack_file)
