"""Writing YAML in the form Talos writes: four spaces, list items indented, strings quoted only where they must be.

What this writes is read back as the same values by readers of YAML 1.1 and 1.2: the string `off` stands in quotes, as
in Talos's own output.
"""

import re
from typing import Any

_WIDE = "\u00a1-\ud7ff\ue000-\ufefe\U00010000-\U0010ffff"
_PLAIN = re.compile(
    rf"(?:[A-Za-z0-9/._<+=({_WIDE}]|-[A-Za-z0-9])[A-Za-z0-9/._<>+=@%^$~;!?*&(){{}}\[\],' \-:#|\"{_WIDE}]*"
)
_UNSAFE = re.compile(r": |:$| #|\s$|[,\[\]{}] *$")
# Words and numbers that a reader would not take for text.
_WORDS = frozenset(
    word
    for base in (
        "true",
        "false",
        "null",
        "yes",
        "no",
        "on",
        "off",
        "y",
        "n",
        "nan",
        ".nan",
        ".inf",
        "+.inf",
        "-.inf",
        "~",
    )
    for word in (base, base.capitalize(), base.upper(), ".NaN", ".Inf")
)
_NUMBERISH = re.compile(
    r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9_]+|0[xob][0-9a-fA-F_]+|[0-9]+(?::[0-9]+)+|[0-9]{4}-.*)"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\u2028\u2029]")
_LITERAL_REFUSED = re.compile(
    r"^[ \t\n]|[ \t]\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\u2028\u2029]|[ \t]$"
)


class Verbatim(str):
    """A scalar that is written as it is, without quotes: `0o644`."""

    __slots__ = ()


def dump(documents: list[Any]) -> str:
    """Return the YAML of several documents."""
    return "---\n".join(_document(document) for document in documents)


def _document(value: Any) -> str:
    lines: list[str] = []
    if isinstance(value, dict) and value:
        _mapping(value, "", lines)
    elif isinstance(value, list) and value:
        _sequence(value, "", lines)
    else:
        lines.append(scalar(value, ""))
    return "\n".join(lines) + "\n"


def _mapping(value: dict[str, Any], indent: str, lines: list[str], inner: str = "") -> None:
    """Write a map; `inner` is the indent of what stands in it, where it is not four more than its own."""
    inner = inner or indent + "    "
    for key, item in value.items():
        name = scalar(key, "")
        if isinstance(item, dict) and item:
            lines.append(f"{indent}{name}:")
            _mapping(item, inner, lines)
        elif isinstance(item, list) and item:
            lines.append(f"{indent}{name}:")
            _sequence(item, inner, lines)
        else:
            lines.append(f"{indent}{name}: {scalar(item, inner)}")


def _sequence(value: list[Any], indent: str, lines: list[str]) -> None:
    for item in value:
        if isinstance(item, (dict, list)) and item:
            start = len(lines)
            if isinstance(item, dict):
                _mapping(item, indent + "  ", lines, indent + "    ")
            else:
                _sequence(item, indent + "  ", lines)
            lines[start] = f"{indent}- {lines[start][len(indent) + 2 :]}"
        else:
            lines.append(f"{indent}- {scalar(item, indent + '  ')}")


def scalar(value: Any, indent: str) -> str:
    """Return one scalar; text of several lines becomes a block indented by `indent`."""
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        return _text(value, indent)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    return {"{}": "{}", "[]": "[]"}.get(str(value), str(value))


def _float(value: float) -> str:
    if value != value:
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    return repr(value)


def _text(value: str, indent: str) -> str:
    if "\n" in value and indent and not _LITERAL_REFUSED.search(value):
        body = value[:-1] if value.endswith("\n") else value
        if not body.endswith("\n"):
            keep = "|" if value.endswith("\n") else "|-"
            return keep + "".join(f"\n{indent}{part}" if part else "\n" for part in body.split("\n"))
    if _is_plain(value):
        return value
    if _is_single(value):
        return "'" + value.replace("'", "''") + "'"
    return _double(value)


def _is_single(value: str) -> bool:
    """Single quotes serve what only needs protection from YAML's signs; double ones what looks like another type."""
    other = value in _WORDS or _NUMBERISH.fullmatch(value) or "\n" in value or "\t" in value
    return bool(value) and not other and not _CONTROL.search(value)


def _is_plain(value: str) -> bool:
    return bool(
        _PLAIN.fullmatch(value)
        and not _UNSAFE.search(value)
        and value not in _WORDS
        and not _NUMBERISH.fullmatch(value)
        and value != "="
        and not value.startswith(("<<", "...", "---"))
    )


def _double(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", escaped) + '"'
