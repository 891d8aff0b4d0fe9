"""Checking CEL expressions: that they can be read, use known names, and give a value of the wanted type.

This reads the language and works out types as it goes; it computes nothing.
"""

import re

from machinery.celnames import DISK, LINK, OOM_RANKING, OOM_TRIGGER, VOLUME, Context
from machinery.celtokens import ReadError, tokens
from machinery.celtypes import BOOL, DYN, NULL, Type, Types, names_of, shown

__all__ = ["DISK", "LINK", "OOM_RANKING", "OOM_TRIGGER", "VOLUME", "Context", "expression_problem"]

_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
# How many arguments a macro has; with another number it is a function, and there is none.
_MACROS = {"all": (2,), "exists": (2,), "exists_one": (2,), "map": (2, 3), "filter": (2,)}
_OPTIONAL_MACROS = {"optMap": (2,), "optFlatMap": (2,)}
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        "as break const continue else false for function if import in let loop namespace null package return true var "
        "void while",
    )
)
_TYPES = frozenset(("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"))
_LITERALS = {"true": BOOL, "false": BOOL, "null": NULL}
_DEEPEST = 100


def expression_problem(text: str, context: Context) -> str:
    """Return why a machine refuses an expression, or nothing."""
    try:
        found = _Reader(text, context).whole()
    except (ReadError, ValueError) as error:
        return f"{error} in: {text.strip()}"
    if found != (context.result,):
        return f"it gives {shown(found)} and must give {context.result}: {text.strip()}"
    return ""


class _Reader:
    """Reads one expression from left to right; every method returns the type of what it read."""

    def __init__(self, text: str, context: Context) -> None:
        self._tokens = tokens(text)
        self._at = 0
        self._depth = 0
        self._optional = context.optional
        self._names = dict(names_of(context))
        self._macros = _MACROS | _OPTIONAL_MACROS if context.optional else _MACROS
        self._types = Types(context)

    def whole(self) -> Type:
        found = self._choice()
        if self._peek()[1]:
            raise ReadError(f'"{self._peek()[1]}" is not expected')
        return self._types.of(found)

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

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
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ReadError("it is nested too deeply")
        found = self._binary(0)
        if self._take("?"):
            first = self._binary(0)
            self._need(":")
            found = self._types.call("?", (found, first, self._choice()))
        self._depth -= 1
        return found

    def _binary(self, level: int) -> Type:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek()[0] in ("sign", "name") and self._peek()[1] in _LEVELS[level]:
            sign = self._next()[1]
            left = self._types.call("--" if sign == "-" else sign, (left, self._binary(level + 1)))
        return left

    def _unary(self) -> Type:
        for sign in ("!", "-"):
            signs = 0
            while self._take(sign):
                signs += 1
            if signs and not (sign == "-" and signs == 1 and self._peek()[0] in ("int", "float")):
                found = self._postfix(self._primary())
                return self._types.call(sign, (found,)) if signs % 2 else found
            if signs:
                return self._postfix(self._number(*self._next(), sign))
        return self._postfix(self._primary())

    def _postfix(self, found: Type) -> Type:
        while True:
            if self._take("."):
                found = self._field(found)
            elif self._take("["):
                optional = self._is_optional()
                key = self._choice()
                self._need("]")
                found = self._types.call("[?]" if optional else "[]", (found, key))
            else:
                return found

    def _is_optional(self) -> bool:
        if not self._take("?"):
            return False
        if not self._optional:
            raise ReadError("? before a key is not known here")
        return True

    def _field(self, target: Type) -> Type:
        optional = self._is_optional()
        kind, name = self._next()
        if kind != "name" or name in ("in", "true", "false", "null"):
            raise ReadError(f'a name is missing after ".", not "{name}"')
        if not optional and self._take("("):
            return self._method(target, name)
        found = self._types.member(target, name)
        return found if not optional or found[0] == "optional" else ("optional", found)

    def _method(self, target: Type, name: str) -> Type:
        if self._count() in self._macros.get(name, ()):
            return self._macro(target, name)
        return self._types.call(f".{name}", (target, *self._arguments(")")))

    def _count(self) -> int:
        """Count the arguments up to the closing bracket."""
        depth, found, at = 0, int(self._peek()[1] != ")"), self._at
        while (text := self._tokens[min(at, len(self._tokens) - 1)][1]) and (depth or text != ")"):
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            found += text == "," and not depth
            at += 1
        return found

    def _macro(self, target: Type, name: str) -> Type:
        kind, local = self._next()
        if kind != "name" or local in _RESERVED:
            raise ReadError(f"{name} needs a name of its own for each item, not {local}")
        self._need(",")
        before = self._names.get(local)
        is_optional = name in _OPTIONAL_MACROS
        self._names[local] = self._types.call(".value", (target,)) if is_optional else self._types.item(target)
        arguments = self._arguments(")")
        if before is None:
            del self._names[local]
        else:
            self._names[local] = before
        if is_optional:
            return arguments[0] if name == "optFlatMap" else ("optional", arguments[0])
        if name != "map" or len(arguments) > 1:
            self._types.call("!", arguments[:1])
        results = {"map": ("list", arguments[-1]), "filter": ("list", self._types.item(target))}
        return results.get(name, BOOL)

    def _arguments(self, end: str) -> list[Type]:
        found: list[Type] = []
        while not self._take(end):
            if found:
                self._need(",")
            if end == "]" and self._take(end):
                break
            found.append(self._element() if end == "]" else self._choice())
        return found

    def _element(self) -> Type:
        """An item of a list; one with `?` before it is there where its value is."""
        if self._is_optional():
            return self._types.call(".value", (self._choice(),))
        return self._choice()

    def _primary(self) -> Type:
        kind, text = self._next()
        if kind in ("int", "uint", "float"):
            return self._number(kind, text)
        if kind == "text":
            return ("bytes",) if "b" in re.match("[bBrR]*", text)[0].lower() else ("string",)  # type: ignore[index]
        if kind == "name" or text == ".":
            return self._name(self._next()[1] if text == "." else text)
        if text == "(":
            found = self._choice()
            self._need(")")
            return found
        if text == "[":
            return ("list", self._types.joined(self._arguments("]")))
        if text == "{":
            return self._map()
        raise ReadError(f'"{text or "the end"}" is not expected')

    def _number(self, kind: str, text: str, sign: str = "") -> Type:
        if kind == "float":
            return ("double",)
        number = int(f"{sign}{text.lower().rstrip('u')}", 16 if text.lower().startswith("0x") else 10)
        low, high = (0, 1 << 64) if kind == "uint" else (-(1 << 63), 1 << 63)
        if not low <= number < high:
            raise ReadError(f"{text} is too large")
        return (kind,)

    def _map(self) -> Type:
        keys: list[Type] = []
        values: list[Type] = []
        while not self._take("}"):
            optional = self._is_optional()
            keys.append(self._choice())
            self._need(":")
            value = self._choice()
            values.append(self._types.call(".value", (value,)) if optional else value)
            if not self._take(","):
                self._need("}")
                break
        return ("map", self._types.joined(keys), self._types.joined(values))

    def _name(self, name: str) -> Type:
        if name in _LITERALS:
            return _LITERALS[name]
        if name in _RESERVED:
            raise ReadError(f'"{name}" is a word of the language')
        if name == "optional" and self._optional and self._take("."):
            name = f"optional.{self._next()[1]}"
            self._need("(")
            return self._types.call(name, self._arguments(")"))
        if self._take("("):
            return self._has() if name == "has" and self._count() == 1 else self._types.call(name, self._arguments(")"))
        if name in self._names:
            return self._names[name]
        if name in _TYPES:
            return ("type", DYN)
        raise ReadError(f'the name "{name}" is not known')

    def _has(self) -> Type:
        """`has` asks for a field, so its argument ends with one."""
        start = self._at
        self._arguments(")")
        words = self._tokens[start : self._at - 1]
        while words and words[0][1] == "(" and words[-1][1] == ")":
            words = words[1:-1]
        if len(words) < 3 or words[-1][0] != "name" or words[-2][1] not in (".", "?"):
            raise ReadError("has needs a field, as in has(disk.serial)")
        return BOOL
