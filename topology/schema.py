"""The JSON schema of a stack file, from the models, so that editors complete and check it.

``talos-stacks schema`` prints it; ``make schema`` writes it to docs/stack.schema.json. It knows single values and keys.
What must go together is checked by the rules alone.
"""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from topology.platforms import PLATFORMS
from topology.shape import shape_of

CLUSTER_KEY = "talos-stacks:cluster"
_DRAFT = "http://json-schema.org/draft-07/schema#"


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out the titles that repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def stack_schema() -> dict[str, Any]:
    """Return the schema of ``Pulumi.<stack>.yaml``. Other keys than the cluster are Pulumi's business."""
    definitions: dict[str, Any] = {}
    for kind in PLATFORMS:
        shape = _shape_schema(kind)
        definitions.update(shape.pop("$defs"))
        definitions[kind] = shape
    definitions["cluster"] = _cluster()
    cluster = {"$ref": "#/$defs/cluster"}
    return {
        "$schema": _DRAFT,
        "title": "Stack file of talos-stacks",
        "type": "object",
        "required": ["config"],
        "properties": {
            "config": {"type": "object", "required": [CLUSTER_KEY], "properties": {CLUSTER_KEY: cluster}},
        },
        "$defs": dict(sorted(definitions.items())),
    }


def _cluster() -> dict[str, Any]:
    """Return the schema of a cluster: the platform's kind chooses which one holds."""
    kinds = {"type": "string", "enum": list(PLATFORMS), "description": "What the machines run on."}
    return {
        "type": "object",
        "required": ["platform"],
        "properties": {"platform": {"type": "object", "required": ["kind"], "properties": {"kind": kinds}}},
        "allOf": [
            {
                "if": {"properties": {"platform": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}}},
                "then": {"$ref": f"#/$defs/{kind}"},
            }
            for kind in PLATFORMS
        ],
    }


def _shape_schema(kind: str) -> JsonSchemaValue:
    schema = shape_of(kind).model_json_schema(schema_generator=_WithoutTitles)
    _keep_one_example(schema)
    schema["title"] = f"A cluster on {kind}"
    return schema


def _keep_one_example(schema: Any) -> None:
    """Leave out the examples that only stand in for faulty values, see `topology.shape.example_of`."""
    if isinstance(schema, dict):
        if isinstance(schema.get("examples"), list):
            schema["examples"] = schema["examples"][:1]
        for each in schema.values():
            _keep_one_example(each)
    elif isinstance(schema, list):
        for each in schema:
            _keep_one_example(each)
