"""The filters and tests of templates: Jinja's own where they only look at values, our own where they could grow."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from jinja2 import pass_context
from jinja2.filters import FILTERS as JINJAS
from jinja2.filters import make_attrgetter
from jinja2.runtime import Undefined
from jinja2.tests import TESTS as JINJAS_TESTS
from jinja2.utils import _PassArg

from machineconfig.bounds import Bounded, RefusedError, check_sum, in_order
from machineconfig.grammar import EACH, JOINED, SIZED
from machineconfig.placeholder import quoted_once_more

_AS_THEY_ARE = """abs capitalize count d default first float int items last length list lower map max min reject
    rejectattr reverse select selectattr title trim unique upper"""
_SORTED = "dictsort sort"
_TESTS = """!= < <= == > >= boolean defined divisibleby eq equalto even false float ge greaterthan gt in integer
    iterable le lessthan lower lt mapping ne none number odd sequence string true undefined upper"""
_BLIND = frozenset(("d", "default", "defined", "flow", "indent", "string", "tojson", "undefined"))
"""Filters and tests that hand a text on, whatever it is: they can be used on secrets."""
_BLIND_OF_ITEMS = frozenset(("first", "join", "last", "list"))
"""The same of the items of a list, but not of the characters of a text."""
_WIDEST = 1000
"""Characters of an indentation."""
_MOST_DIGITS = 15
_AS_JSON = json.JSONEncoder(ensure_ascii=False)
_COMPARISONS = 20
"""How often a list of any size that is possible looks at each of its items to sort them."""


def writable(value: object) -> object:
    """The text of one `{{ }}`: only what has one obvious spelling."""
    if type(value) is str:
        return value
    if isinstance(value, Undefined):
        return str(value)  # raises
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):  # whose __str__ is object's own
        return value
    if value is None:
        raise RefusedError("has no value here", "guard it with {% if %} or give the value in the stack file")
    if isinstance(value, list | tuple | set | frozenset | Mapping):
        raise RefusedError("is more than one value", "write it with | flow, or loop over it")
    if callable(value) or hasattr(type(value), "model_fields") or type(value).__str__ is object.__str__:
        raise RefusedError("is no text", "write the part of it that is meant")
    return value


@pass_context
def written(context: Bounded, value: object) -> object:
    """The text of one `{{ }}`, counted."""
    shown = writable(value)
    context.spend(shown, reads=False)
    return shown


def flow(value: object) -> str:
    """A value as YAML in flow style (JSON, every string quoted): for lists, maps and free text."""
    if isinstance(value, Undefined):
        str(value)  # raises
    return quoted_once_more(_AS_JSON.encode(_plain(value)))


def _plain(value: Any) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | IPv4Network | IPv6Network):
        return [_plain(item) for item in in_order(value)]
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return value
    return str(writable(value))


@pass_context
def _each(context: Bounded, value: Any, weight: int) -> Any:
    return context.each(value, weight)


@pass_context
def _sized(context: Bounded, value: Any) -> Any:
    context.spend(value)
    return value


@pass_context
def _joined(context: Bounded, values: Iterable[object]) -> str:
    texts = [str(writable(value)) for value in values]
    context.spend(*texts, reads=False)
    return "".join(texts)


@pass_context
def _join(context: Bounded, value: Iterable[object], d: str = "", attribute: str | int | None = None) -> str:
    get = make_attrgetter(context.environment, attribute) if attribute is not None else None
    texts = [str(writable(get(item) if get else item)) for item in value]
    context.spend(*texts, steps=len(texts) * len(str(d)), reads=False)
    return str(d).join(texts)


@pass_context
def _replace(context: Bounded, s: object, old: str, new: str, count: int = -1) -> str:
    text = str(writable(s))
    context.spend(steps=text.count(str(old)) * len(str(new)))
    return text.replace(str(old), str(new), count)


@pass_context
def _indent(context: Bounded, s: object, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    """Put spaces, or a text, in front of each line: of the first where that is wanted, of blank ones likewise."""
    space = " " * min(width, _WIDEST + 1) if isinstance(width, int) else str(width)
    if len(space) > _WIDEST:
        raise RefusedError("indents too far", f"indent by at most {_WIDEST}")
    lines = str(writable(s)).splitlines() or [""]
    context.spend(steps=len(lines) * (1 + len(space)))
    start = space if first else ""
    return start + "\n".join(line if at == 0 or not (line or blank) else space + line for at, line in enumerate(lines))


def _round(value: float, precision: int = 0, method: str = "common") -> float:
    """Round a number to a few digits: to the nearest, up (ceil) or down (floor)."""
    if abs(precision) > _MOST_DIGITS:
        raise RefusedError("rounds to too many digits", f"use at most {_MOST_DIGITS}")
    rounding: dict[str, Callable[[float], float]] = {"ceil": math.ceil, "floor": math.floor}
    if method == "common":
        return round(value, precision)
    return float(rounding[method](value * 10**precision) / 10**precision)


@pass_context
def _sum(context: Bounded, value: Iterable[Any], attribute: str | int | None = None, start: float = 0) -> float:
    get = make_attrgetter(context.environment, attribute) if attribute is not None else None
    total = start
    for item in value:
        number = get(item) if get else item
        check_sum("*", number, 1)
        total += number if isinstance(number, int | float) else writable(None)  # type: ignore[operator]
    return total


def _string(value: object) -> str:
    return str(writable(value))


_BEFORE: dict[_PassArg | None, Callable[[Bounded], tuple[object, ...]]] = {
    None: lambda context: (),
    _PassArg.context: lambda context: (context,),
    _PassArg.eval_context: lambda context: (context.eval_ctx,),
    _PassArg.environment: lambda context: (context.environment,),
}
"""What Jinja gives a filter in front of the value."""


def _counted(name: str, function: Callable[..., Any], looks: int = 1) -> Callable[..., Any]:
    """A filter or test that costs what it looks at, and gives a list where it would give a generator."""
    before = _BEFORE[_PassArg.from_obj(function)]

    @pass_context
    def call(context: Bounded, value: Any = None, *arguments: Any, **named: Any) -> Any:
        reads = name not in _BLIND and (name not in _BLIND_OF_ITEMS or isinstance(value, str))
        context.spend(*[value] * looks, *arguments, *named.values(), reads=reads)
        if isinstance(value, set | frozenset):
            value = list(in_order(value))
        result = function(*before(context), value, *arguments, **named)
        if isinstance(result, Iterator):
            return context.each(result)
        context.spend(result, reads=False)
        return result

    return call


_OWN: dict[str, Any] = {
    "flow": flow,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "round": _round,
    "string": _string,
    "sum": _sum,
    "tojson": flow,
}
_JINJAS: dict[str, Any] = {**JINJAS}
FILTERS: dict[str, Any] = {
    **{name: _counted(name, _JINJAS[name]) for name in _AS_THEY_ARE.split()},
    **{name: _counted(name, _JINJAS[name], _COMPARISONS) for name in _SORTED.split()},
    **{name: _counted(name, function) for name, function in _OWN.items()},
}
"""Filters by name."""
COUNTING: dict[str, Any] = {EACH: _each, SIZED: _sized, JOINED: _joined}
_JINJAS_TESTS: dict[str, Any] = {**JINJAS_TESTS}
TESTS: dict[str, Any] = {name: _counted(name, _JINJAS_TESTS[name]) for name in _TESTS.split()}
"""Tests by name."""
