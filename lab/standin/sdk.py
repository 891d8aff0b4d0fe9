"""Reads the schema of resources and functions out of an installed, generated Pulumi SDK.

Names come from ``pulumi.getter``, types and required flags from annotations, tokens and the secret flags of a resource
from the body of its constructor, required arguments of a function from the annotations of its ``_output`` form.
One thing the generated code does not carry: which fields *inside* an object are secret. That is given by the caller as
``nested_secrets``, pairs of a type name and a property; a test holds them against the real plugin's schema.
"""

import ast
import collections.abc
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pulumi

from lab.standin.schema import FunctionSchema, ListOf, MapOf, ObjectOf, Property, ResourceSchema, Scalar, Type

NestedSecrets = frozenset[tuple[str, str]]

_SCALARS: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", Any: "any"}
# Pulumi's own ``Input`` refers to these by name; the branch that they make is left out below.
_NAMES = {"Output": pulumi.Output, "T": type(None)}
_objects: dict[tuple[type, NestedSecrets], ObjectOf] = {}
_UNIONS = (typing.Union, types.UnionType)


def resource_schema(
    resource: type[pulumi.Resource], args: type, secrets: NestedSecrets = frozenset()
) -> ResourceSchema:
    """Read a resource from its class and its ``…Args`` class; ``TypeError`` for a class that is not generated."""
    tree = _parse(resource._internal_init)  # type: ignore[attr-defined]
    token = _first_argument(tree, "__init__")
    marked = _secret_outputs(tree)
    return ResourceSchema(
        token=token,
        inputs=_properties(args, secrets, marked),
        outputs=_properties(resource, secrets, marked),
    )


def function_schema(function: Callable[..., Any], result: type, secrets: NestedSecrets = frozenset()) -> FunctionSchema:
    """Read an invoke from its plain function and its ``…Result`` class."""
    module = sys.modules[function.__module__]
    token = _first_argument(_parse(function), "invoke")
    output_form = _parse(getattr(module, f"{function.__name__}_output"))
    hints = typing.get_type_hints(function, globalns=vars(module), localns=_NAMES)
    inputs = {}
    for python_name, annotation in _arguments(output_form):
        name = _camel(python_name)
        required = "Optional[Optional[" not in annotation
        inputs[name] = Property(name, _type(hints[python_name], secrets), required=required)
    return FunctionSchema(token=token, inputs=inputs, outputs=_properties(result, secrets, frozenset()))


def _properties(cls: type, secrets: NestedSecrets, marked: frozenset[str]) -> dict[str, Property]:
    found: dict[str, Property] = {}
    owner = _schema_name(cls)
    for name, prop in _getters(cls):
        names = vars(sys.modules[cls.__module__])
        hint = typing.get_type_hints(prop.fget, globalns=names, localns=_NAMES).get("return", Any)
        found[name] = Property(
            name,
            _type(hint, secrets),
            required=type(None) not in _flatten(hint),
            secret=name in marked or (owner, name) in secrets,
        )
    return found


def _getters(cls: type) -> Iterator[tuple[str, property]]:
    """Yield a generated class's own properties; ``pulumi.getter`` leaves the schema's name on the function."""
    for value in vars(cls).values():
        if isinstance(value, property):
            name = getattr(value.fget, "_pulumi_name", None)
            if name:
                yield name, value


def _type(hint: Any, secrets: NestedSecrets) -> Type:
    for candidate in _flatten(hint):
        if candidate is type(None) or typing.is_typeddict(candidate):
            continue
        if candidate in _SCALARS:
            return Scalar(_SCALARS[candidate])
        origin, arguments = typing.get_origin(candidate), typing.get_args(candidate)
        if origin is collections.abc.Sequence:
            return ListOf(_type(arguments[0], secrets))
        if origin is collections.abc.Mapping:
            return MapOf(_type(arguments[1], secrets))
        if inspect.isclass(candidate):
            return _object(candidate, secrets)
    raise TypeError(f"the generated SDK has an annotation of a kind that is not known here: {hint}")


def _object(cls: type, secrets: NestedSecrets) -> ObjectOf:
    known = _objects.get((cls, secrets))
    if known is None:
        known = _objects[cls, secrets] = ObjectOf(_schema_name(cls), _properties(cls, secrets, frozenset()))
    return known


def _flatten(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, looking into ``Input[T]`` and ``Output[T]``, without the wrappers themselves."""
    origin = typing.get_origin(hint)
    if origin is pulumi.Output:
        return _flatten(typing.get_args(hint)[0])
    if origin in _UNIONS:
        members: list[Any] = []
        for member in typing.get_args(hint):
            if typing.get_origin(member) not in (pulumi.Output, collections.abc.Awaitable):
                members.extend(_flatten(member))
        return tuple(members)
    return (hint,)


def _schema_name(cls: type) -> str:
    return cls.__name__.removesuffix("Args").removesuffix("Result")


def _parse(function: Callable[..., Any]) -> ast.Module:
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node


def _first_argument(tree: ast.AST, name: str) -> str:
    for call in _calls(tree, name):
        if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str):
            return call.args[0].value
    raise TypeError(f"no token was found in the generated code (no call of {name} with a name)")


def _secret_outputs(tree: ast.AST) -> frozenset[str]:
    for call in _calls(tree, "ResourceOptions"):
        for keyword in call.keywords:
            if keyword.arg == "additional_secret_outputs":
                return frozenset(ast.literal_eval(keyword.value))
    return frozenset()


def _arguments(tree: ast.Module) -> Iterator[tuple[str, str]]:
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef):
        raise TypeError("the generated SDK's function is not a function")
    for argument in function.args.args:
        if argument.arg != "opts" and argument.annotation is not None:
            yield argument.arg, ast.unparse(argument.annotation)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
