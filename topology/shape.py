"""The models as a shape to look things up in: the field at a place, the keys that may be there, an example of it."""

from __future__ import annotations

import typing
from collections.abc import Collection
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from findings import Path
from topology.model import Model
from topology.node import Node, Platform
from topology.platforms import PLATFORMS
from topology.topology import Topology


class UnknownPlatform(Platform):
    """Stands in for a platform that is not in the table, so that the rest of the file can be checked all the same."""

    model_config = ConfigDict(extra="ignore")

    kind: Any = None


class UnknownNode(Node):
    """A node of an unknown platform: keys that only the platform knows are let pass."""

    model_config = ConfigDict(extra="ignore")


_SOME = [{"kind": "bare-metal"}]


@cache
def shape_of(kind: str | None) -> type[Topology]:
    """Return the topology's model with the settings and the node of one platform in it."""
    platform = PLATFORMS.get(kind or "")
    settings, node = (platform.settings, platform.node) if platform else (UnknownPlatform, UnknownNode)
    fields = Topology.model_fields
    return create_model(
        "Topology",
        __base__=Topology,
        platform=(settings, Field(description=fields["platform"].description, examples=None if platform else _SOME)),
        nodes=(tuple[node, ...], Field(min_length=1, description=fields["nodes"].description)),  # type: ignore[valid-type]
    )


def field_at(shape: type[BaseModel], loc: Path) -> FieldInfo | None:
    """Return the field a place stands for; None for an entry of a list or of a mapping, and for an unknown key."""
    annotation: Any = shape
    field: FieldInfo | None = None
    for part in loc:
        model = _model(annotation)
        if model is not None:
            field = _fields(model).get(part) if isinstance(part, str) else None
            annotation = field.annotation if field else None
        else:
            field, annotation = None, _entry(annotation)
    return field


def keys_at(shape: type[BaseModel], loc: Path, but: Collection[str] = ()) -> tuple[str, ...]:
    """Return the keys that may be in the mapping at a place, but for some."""
    field = field_at(shape, loc)
    annotation = field.annotation if field else _annotation_at(shape, loc)
    model = _model(annotation)
    return tuple(key for key in _fields(model) if key not in but) if model else ()


def example_of(field: FieldInfo, *, first: bool = False) -> object:
    """Return something a required field takes, or one made of the examples of what it holds.

    The first of its examples is to be shown; the last one collides with no value that people use.
    """
    if field.examples:
        return field.examples[0 if first else -1]
    model, entry = _model(field.annotation), _model(_entry(field.annotation))
    required = {
        key: example_of(each, first=first)
        for key, each in _fields(model or entry or Model).items()
        if each.is_required()
    }
    return [required] if entry else required if model else None


def _annotation_at(shape: type[BaseModel], loc: Path) -> Any:
    if not loc:
        return shape
    field = field_at(shape, loc)
    return field.annotation if field else _entry(_annotation_at(shape, loc[:-1]))


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _plain(annotation: Any) -> Any:
    """Take off ``Annotated`` and ``| None``."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (Union, UnionType):
            annotation = next(each for each in typing.get_args(annotation) if each is not type(None))
        else:
            return annotation


def _model(annotation: Any) -> type[BaseModel] | None:
    plain = _plain(annotation)
    return plain if isinstance(plain, type) and issubclass(plain, BaseModel) else None


def _entry(annotation: Any) -> Any:
    """Return what a list or a mapping holds."""
    plain = _plain(annotation)
    match typing.get_origin(plain):
        case origin if origin is tuple:
            return typing.get_args(plain)[0]
        case origin if origin is dict:
            return typing.get_args(plain)[1]
        case _:
            return None
