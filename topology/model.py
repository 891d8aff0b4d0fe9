"""What every model of the topology shares: it is frozen, its keys are camelCase, an unknown key is refused."""

from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError


class Model(BaseModel):
    """A part of the stack file. Derived facts are properties and cannot be set."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        hide_input_in_errors=True,
        json_schema_serialization_defaults_required=False,
        use_attribute_docstrings=True,
    )


def refuse(message: str, cure: str, *, hidden: bool = False, also: tuple[str, ...] = ()) -> NoReturn:
    """Refuse the value that is being validated: ``message`` follows the value in the fault, ``cure`` ends it.

    ``hidden`` keeps the value out of the fault. ``also`` is a place beside the value: the fault is not told where that
    is faulty by itself.
    """
    context = {"message": message, "cure": cure, "hidden": hidden, "also": also}
    raise PydanticCustomError("refused", "{message}", context)


def skip() -> NoReturn:
    """Refuse the value without a fault of its own: what makes it wrong is already reported at another place."""
    raise PydanticCustomError("consequence", "consequence", {"none": None})


Data = dict[str, Any]
"""Values of your own for the templates."""
