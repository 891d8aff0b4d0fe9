"""Templates that come to an end: a slip of the pen in a loop or a product is refused and does not fill the memory.

Who writes patches is trusted as who writes the program is: this is a net under mistakes, no wall.
"""

import re
from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, TemplateError
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment

LARGEST = 4 * 2**20
"""Characters of a rendered file: more than any machine takes as its whole configuration."""
_DIGITS = 10_000
"""Bits of a whole number."""


class RefusedError(TemplateError):
    """A value that a patch cannot hold, or a file that it cannot include."""

    def __init__(self, message: str, remedy: str) -> None:
        """`message` follows what stands between the braces."""
        super().__init__(message)
        self.remedy = remedy


class BoundedEnvironment(SandboxedEnvironment):
    """Jinja's sandbox for its short ranges, with bounds for products. It looks at no attribute, which takes time."""

    intercepted_binops = frozenset(("*", "**", "%"))
    getattr = Environment.getattr
    getitem = Environment.getitem

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Do a sum, unless its result would be larger than anything that is meant."""
        if _is_too_large(operator, left, right):
            raise too_large()
        return super().call_binop(context, operator, left, right)


def joined(pieces: Iterable[str]) -> str:
    """Join the pieces of a rendering while they are few enough."""
    found: list[str] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > LARGEST:
            raise too_large()
        found.append(piece)
    return "".join(found)


def too_large() -> RefusedError:
    """The refusal of what would become too large."""
    return RefusedError(f"makes more than the {LARGEST} characters that a patch may have", "make it smaller")


def _is_too_large(operator: str, left: Any, right: Any) -> bool:
    if operator == "%":
        return isinstance(left, str) and any(int(width) > LARGEST for width in re.findall(r"[0-9]{1,9}", left))
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * max(right, 0) if operator == "**" else left.bit_length() + right.bit_length()
        return bits > _DIGITS
    text, times = (left, right) if isinstance(right, int) else (right, left)
    return isinstance(text, str | list | tuple) and isinstance(times, int) and len(text) * times > LARGEST
