"""Pydantic's errors in our words, in this one place: nothing of its wording reaches a person."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from findings import NOTHING, Finding, Path, near, nearest
from topology.hints import for_key, for_missing, for_number, for_value, renamed
from topology.shape import example_of, field_at, keys_at

_OPTIONAL = ", or leave it out"
_WHOLE = ("int_type", "int_parsing_size", "int_from_float")
Words = tuple[object, str, str]
"""The value to show, the message and the cure."""


def follows(error: ErrorDetails) -> bool:
    """Whether an error only follows from another one, and says nothing by itself."""
    if error["type"] == "too_short":  # Entries that are faulty are not counted.
        return bool(len(error["input"]) >= error["ctx"]["min_length"])
    return error["type"] in ("consequence", "default_factory_not_called")


def translate(error: ErrorDetails, loc: Path, shape: type[BaseModel], beside: Collection[str] = ()) -> Finding:
    """Return the fault that an error at ``loc`` of the file means; ``beside`` are the keys around it."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if value is None and kind in ("refused", "bool_type", "int_type", "literal_error"):
        value, message, cure = _empty(loc, shape)
    elif kind == "refused":
        value, message, cure = NOTHING if context["hidden"] else value, context["message"], context["cure"]
    elif kind == "missing":
        value, message, cure = _missing(loc, shape, error["input"])
    elif kind in ("extra_forbidden", "invalid_key"):
        value, message, cure = _unknown_key(loc, shape, beside)
    else:
        value, message, cure = _misfit(kind, value, context)
        if kind in _WHOLE and isinstance(value, str):
            cure = for_number(loc[-1], value) or cure
        field = field_at(shape, loc)
        if not loc or (field is not None and field.is_required()):
            cure = cure.removesuffix(_OPTIONAL)
    return Finding.at(loc, value, message, for_value(loc, cure))


def _misfit(kind: str, value: object, context: Mapping[str, Any]) -> Words:
    """What is wrong with a value of another type or size."""
    match kind:
        case "bool_type":
            return value, f"is {_a(value)}, not true or false", "write true or false, without quotes"
        case "greater_than_equal":
            return value, "is too small", f"write {context['ge']} or more"
        case "less_than_equal":
            return value, "is too large", f"write {context['le']} or less"
        case "too_short":
            return NOTHING, "has too few entries", f"give at least {context['min_length']}"
        case "too_long":
            return NOTHING, "has too many entries", f"give at most {context['max_length']}"
        case "literal_error":
            return _choice(value, context)
        case "model_type" | "model_attributes_type" | "dict_type":
            return NOTHING, f"is {_a(value)}, not a mapping", "write its keys below it" + _OPTIONAL
        case "tuple_type":
            return NOTHING, f"is {_a(value)}, not a list", "write its entries below it, each after a hyphen"
    if kind in _WHOLE:
        return value, f"is {_a(value)}, not a whole number", "write digits without quotes"
    return value, "cannot be used here", "see docs/stack.schema.json for what can"


def _missing(loc: Path, shape: type[BaseModel], beside: object) -> Words:
    field = field_at(shape, loc)
    example = example_of(field, first=True) if field else None
    words = example if isinstance(example, str) else json.dumps(example)
    return NOTHING, "is missing", for_missing(loc, beside, f"give it, such as {words}")


def _empty(loc: Path, shape: type[BaseModel]) -> Words:
    field = field_at(shape, loc)
    example = example_of(field, first=True) if field else None
    such = f", such as {example}" if isinstance(example, str | int) else ""
    optional = field is not None and not field.is_required()
    return NOTHING, "is empty", f"give it{such}{_OPTIONAL if optional else ''}"


def _unknown_key(loc: Path, shape: type[BaseModel], beside: Collection[str]) -> Words:
    key, keys = str(loc[-1]), keys_at(shape, loc[:-1])
    hint = for_key(key)
    if hint:
        cure = hint
    elif new := renamed(key, keys):
        cure = f"write {new}, which is its name now"
    elif close := nearest(key, keys_at(shape, loc[:-1], beside)):
        cure = f"write {close}"
    else:
        cure = f"take it out; the keys here are {', '.join(keys)}"
    return NOTHING, "is not a key here", cure


def _choice(value: object, context: Mapping[str, Any]) -> Words:
    expected = context["expected"].replace("'", "").replace(" or ", ", ").split(", ")
    guess = near(value, expected) if isinstance(value, str) else ""
    if len(expected) == 1:
        return value, f"is not {expected[0]}", f"write {expected[0]}"
    return value, f"is not one of {', '.join(expected)}", f"write one of them{guess}"


def _a(value: object) -> str:
    match value:
        case None:
            return "empty"
        case str():
            return "text"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case dict():
            return "a mapping"
        case _:
            return "a list"
