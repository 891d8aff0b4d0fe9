"""What a template can say at all: checked in its syntax tree, so that nothing else is ever run.

Whatever Jinja knows besides is left out: other files, macros and blocks, calls of what a value happens to hold, and
every name that Python keeps for itself.
"""

from collections.abc import Iterator

from jinja2 import nodes

from findings import nearest
from machineconfig.bounds import RefusedError
from machineconfig.visible import CALLABLE

FUNCTIONS = ("secret", "include", "range")
EACH, SIZED, JOINED = "each item", "sized value", "joined text"
"""Names of filters that no template can write, because of the space in them."""
_DEEPEST = 100
_ATTRIBUTE = 20
"""Steps that reading an attribute costs: a fact may look at every node of the cluster."""
_KNOWN = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.AssignBlock),
    *(nodes.With, nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Keyword),
    *(nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Call, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Concat),
    *(nodes.Compare, nodes.Operand, nodes.BinExpr, nodes.UnaryExpr),
)
_OTHER_FILES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_INCLUDE = 'take {{ include("manifests/...") }} for a file as it is, and the levels for patches'
_LITTLE = "write it out; a value that it would have to work out becomes a property in context.py"

_INSTEAD = {
    "b64encode": "write the value under stringData, which is no base64, or store it in base64",
    "format": "write its parts one after the other, with ~ between them",
    **dict.fromkeys(("to_yaml", "to_nice_yaml", "to_json", "quote"), "write it with | flow"),
}
"""What to do without filters that people know from elsewhere."""


class SaidError(RefusedError):
    """Something that no template can say, at its line."""

    def __init__(self, line: int, message: str, cure: str) -> None:
        """`message` follows nothing: it names what is refused."""
        super().__init__(message, cure, always=True)
        self.line = line


def checked(template: nodes.Template) -> nodes.Template:
    """The tree of a template that says only what it can, with what counts its steps put in. Raises SaidError."""
    waiting: list[tuple[nodes.Node, int]] = [(template, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _DEEPEST:
            raise SaidError(node.lineno, "is nested too deeply", "make it flatter")
        _check(node)
        waiting += [(child, depth + 1) for child in node.iter_child_nodes()]
    _count(template)
    if template.environment:
        template.set_environment(template.environment)
    return template


def _check(node: nodes.Node) -> None:
    if isinstance(node, _OTHER_FILES):
        raise SaidError(node.lineno, f"{_word(node)} reads another file as a template", _INCLUDE)
    if not isinstance(node, _KNOWN):
        raise SaidError(node.lineno, f"{_word(node)} is not allowed in a patch", _LITTLE)
    if isinstance(node, nodes.For) and node.recursive:
        raise SaidError(node.lineno, "a loop cannot call itself", _LITTLE)
    if isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
        raise SaidError(node.lineno, f"{node.attr} is not for templates", "read what the value itself has")
    if isinstance(node, nodes.Call):
        _check_call(node)
    if isinstance(node, nodes.Filter | nodes.Test):
        _check_name(node)


def _check_call(node: nodes.Call) -> None:
    called = node.node
    name = called.name if isinstance(called, nodes.Name) else called.attr if isinstance(called, nodes.Getattr) else ""
    known = name in (CALLABLE if isinstance(called, nodes.Getattr) else FUNCTIONS)
    if not known or node.dyn_args or node.dyn_kwargs:
        what = f"{name}(...)" if name else "this"
        cure = f"a template calls {', '.join(FUNCTIONS)}, and of values {', '.join(sorted(CALLABLE))}"
        raise SaidError(node.lineno, f"{what} cannot be called in a template", cure)


def _check_name(node: nodes.Filter | nodes.Test) -> None:
    environment, kind = node.environment, type(node).__name__.lower()
    known = environment.filters if isinstance(node, nodes.Filter) else environment.tests  # type: ignore[union-attr]
    if node.name not in known:
        names = sorted(name for name in known if " " not in name)
        near = nearest(node.name, names)
        hint = f" (near it: {near})" if near and node.name not in _INSTEAD else ""
        cure = _INSTEAD.get(node.name) or f"a template has {', '.join(names)}"
        raise SaidError(node.lineno, f"{node.name} is no {kind}{hint}", cure)


def _word(node: nodes.Node) -> str:
    return {"FromImport": "import", "CallBlock": "call", "FilterBlock": "filter"}.get(
        type(node).__name__, type(node).__name__.lower()
    )


def _count(template: nodes.Template) -> None:
    """Put the counting where Jinja itself would loop, join or compare without being asked."""
    for node in list(template.find_all(nodes.Node)):
        match node:
            case nodes.For():  # each turn costs as many steps as the body has parts
                weight = sum(_weight(each) for part in (*node.body, node.test) if part for each in _all(part))
                node.iter = _filter(EACH, node.iter, nodes.Const(weight + 1))
            case nodes.Concat():
                node.nodes = [_filter(JOINED, nodes.List(node.nodes, lineno=node.lineno))]
            case nodes.Compare() | nodes.Operand():
                node.expr = _sized(node.expr)
            case nodes.Getitem() if isinstance(node.arg, nodes.Slice):  # which Jinja cuts without the environment
                node.node = _filter(SIZED, node.node)
            case nodes.Pair():
                node.key = _sized(node.key)


def _sized(node: nodes.Expr) -> nodes.Expr:
    return node if isinstance(node, nodes.Const) else _filter(SIZED, node)


def _filter(name: str, node: nodes.Node, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)


def _all(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    yield from (each for child in node.iter_child_nodes() for each in _all(child))


def _weight(node: nodes.Node) -> int:
    return _ATTRIBUTE if isinstance(node, nodes.Getattr | nodes.Call) else 1
