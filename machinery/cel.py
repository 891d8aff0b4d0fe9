"""Checking CEL expressions: that they can be read, use known names, and give a value of the wanted type.

This reads the language and works out types as it goes; it computes nothing. Where it cannot know a type, any will do.
"""

from machinery.celtokens import ReadError, tokens
from machinery.celtypes import (
    DISK,
    LINK,
    OOM_RANKING,
    OOM_TRIGGER,
    VOLUME,
    Context,
    Type,
    binary,
    call,
    index,
    member,
    method,
)

__all__ = ["DISK", "LINK", "OOM_RANKING", "OOM_TRIGGER", "VOLUME", "expression_problem"]

_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
_MACROS = frozenset(("all", "exists", "exists_one", "map", "filter", "optMap", "optFlatMap"))


def expression_problem(text: str, context: Context) -> str:
    """Return why a machine refuses an expression, or nothing."""
    try:
        found = _Reader(text, context).whole()
    except (ReadError, ValueError) as error:
        return f"{error} in: {text.strip()}"
    if found not in (context.result, "dyn"):
        return f"it gives {found} and must give {context.result}: {text.strip()}"
    return ""


class _Reader:
    """Reads one expression from left to right; every method returns the type of what it read."""

    def __init__(self, text: str, context: Context) -> None:
        self._tokens = tokens(text)
        self._at = 0
        self._context = context
        self._local: dict[str, Type] = {}

    def whole(self) -> Type:
        found = self._choice()
        if self._peek()[1]:
            raise ReadError(f'"{self._peek()[1]}" is not expected')
        return found

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at]

    def _next(self) -> tuple[str, str]:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _take(self, sign: str) -> bool:
        kind, text = self._peek()
        if kind in ("sign", "name") and text == sign:
            self._at += 1
            return True
        return False

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise ReadError(f'"{sign}" is missing before "{self._peek()[1] or "the end"}"')

    def _choice(self) -> Type:
        found = self._binary(0)
        if not self._take("?"):
            return found
        if found not in ("bool", "dyn"):
            raise ReadError("the condition before ? is no bool")
        first = self._binary(0)
        self._need(":")
        second = self._choice()
        if first != second and "dyn" not in (first, second):
            raise ReadError(f"a choice between {first} and {second}")
        return first

    def _binary(self, level: int) -> Type:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek()[0] in ("sign", "name") and self._peek()[1] in _LEVELS[level]:
            sign = self._next()[1]
            left = binary(sign, left, self._binary(level + 1))
        return left

    def _unary(self) -> Type:
        if self._take("!"):
            found = self._unary()
            if found not in ("bool", "dyn"):
                raise ReadError(f"! before {found}")
            return "bool"
        if self._take("-"):
            found = self._unary()
            if found not in ("int", "double", "dyn", "duration"):
                raise ReadError(f"- before {found}")
            return found
        return self._postfix(self._primary())

    def _postfix(self, found: Type) -> Type:
        while True:
            if self._take("."):
                optional = self._take("?")
                kind, name = self._next()
                if kind != "name":
                    raise ReadError(f'a name is missing after ".", not "{name}"')
                found = self._method(found, name) if self._take("(") else member(found, name)
                found = "dyn" if optional else found
            elif self._take("["):
                self._take("?")
                self._choice()
                self._need("]")
                found = index(found)
            else:
                return found

    def _method(self, target: Type, name: str) -> Type:
        if name in _MACROS:
            local = self._next()[1]
            self._need(",")
            self._local[local] = _item(target)
            arguments = self._arguments(")")
            del self._local[local]
        else:
            arguments = self._arguments(")")
        return method(target, name, arguments)

    def _arguments(self, end: str) -> list[Type]:
        found: list[Type] = []
        while not self._take(end):
            if found:
                self._need(",")
                if self._take(end):
                    break
            found.append(self._choice())
        return found

    def _primary(self) -> Type:
        kind, text = self._next()
        if kind in ("int", "uint"):
            return kind
        if kind == "float":
            return "double"
        if kind == "text":
            return "bytes" if "b" in text.lower().split(text[-1])[0] else "string"
        if kind == "name":
            return self._name(text)
        if text == "(":
            found = self._choice()
            self._need(")")
            return found
        if text == "[":
            items = set(self._arguments("]"))
            return f"list:{items.pop()}" if len(items) == 1 else "list:dyn"
        if text == "{":
            return self._map()
        raise ReadError(f'"{text or "the end"}" is not expected')

    def _map(self) -> Type:
        values = set()
        while not self._take("}"):
            self._choice()
            self._need(":")
            values.add(self._choice())
            if not self._take(","):
                self._need("}")
                break
        return f"map:dyn:{values.pop()}" if len(values) == 1 else "map:dyn:dyn"

    def _name(self, name: str) -> Type:
        if name in ("true", "false"):
            return "bool"
        if name == "null":
            return "null"
        if self._take("("):
            return call(self._context, name, self._arguments(")"))
        if name in self._local:
            return self._local[name]
        if name in ("int", "uint", "double", "string", "bytes", "bool"):
            return "dyn"
        if name not in self._context.names:
            raise ReadError(f'the name "{name}" is not known')
        return self._context.names[name]


def _item(target: Type) -> Type:
    """Return the type of what a macro goes through: the items of a list, the keys of a map."""
    return target.split(":")[1] if target.startswith(("list:", "map:")) else "dyn"
