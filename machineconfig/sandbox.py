"""The environment in which templates run: a stranger's patch can be checked, rendered and previewed.

Jinja's own sandbox keeps the names that Python uses inside; here only what is listed can be said (grammar), seen
(visible), called and filtered with (filters), and all of it is counted (bounds). Nothing depends on time, chance, the
environment or the order of a set.
"""

from collections.abc import Mapping
from typing import Any

from jinja2 import nodes
from jinja2.runtime import Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from machineconfig.bounds import Bounded, check_sum, looks_into_a_secret
from machineconfig.filters import COUNTING, FILTERS, TESTS, written
from machineconfig.grammar import checked
from machineconfig.placeholder import holds_placeholder
from machineconfig.unknown import Unknown
from machineconfig.visible import names_of

_LONGEST_NAME = 60
"""Characters of a name in a message."""

_WITH_ENTRIES: Any = (Mapping, list, tuple, range, str)


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja with lists of what is allowed."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))
    context_class = Bounded

    def __init__(self, **options: Any) -> None:
        """Take the options of Jinja that say how text is read."""
        super().__init__(undefined=Unknown, finalize=written, optimized=False, **options)
        self.globals = {"range": range}
        self.filters = {**FILTERS, **COUNTING}
        self.tests = TESTS

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return checked(super()._parse(source, name, filename))

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Read what a template may see of a value."""
        if attribute in names_of(type(obj)):
            try:
                return getattr(obj, attribute)
            except AttributeError:
                return self.undefined(obj=obj, name=attribute)
        return self._item(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Read an entry of a map or a list, or what `getattr` would."""
        if isinstance(argument, str) and not isinstance(obj, Mapping):
            return self.getattr(obj, argument)
        return self._item(obj, argument)

    def _item(self, obj: Any, argument: Any) -> Any:
        if any(isinstance(each, str) and holds_placeholder(each) for each in (obj, argument)):
            raise looks_into_a_secret()
        if isinstance(obj, _WITH_ENTRIES) and isinstance(argument, str | int):
            try:
                return obj[argument]
            except (LookupError, TypeError):
                pass
        if isinstance(obj, Undefined):
            str(obj)  # raises, with its own name
        # For a message: text and numbers alone, as anything else could be written for ever.
        name = str(argument)[:_LONGEST_NAME] if isinstance(argument, str | int) else "such entry"
        return self.undefined(obj=obj, name=name)

    def call(self, context: Bounded, called: Any, *arguments: Any, **named: Any) -> Any:  # type: ignore[override]
        """Call what the grammar let through; what is looked at is counted."""
        named = {name: value for name, value in named.items() if not name.startswith("_")}  # without Jinja's own
        of = getattr(called, "__self__", None)
        context.spend(*arguments, *named.values(), of if isinstance(of, str) else None)
        result = called(*arguments, **named)
        if isinstance(result, str) and holds_placeholder(result):
            context.holds_secrets = True
        context.spend(result, reads=False)
        return result

    def call_binop(self, context: Bounded, operator: str, left: Any, right: Any) -> Any:  # type: ignore[override]
        """Do a sum, unless its result would be larger than anything that is meant."""
        check_sum(operator, left, right)
        context.spend(left, right)
        result = super().call_binop(context, operator, left, right)
        context.spend(result, reads=False)
        return result
