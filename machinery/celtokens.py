"""The words of a CEL expression."""

import re

_TOKEN = re.compile(
    r"""\s*+(?://[^\n]*+\s*+)*+(?:
    (?P<float>(?:[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.[0-9]+(?:[eE][-+]?[0-9]+)?))
    |(?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
    |(?P<int>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<text>[bBrR]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>\|\||&&|==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])
    )""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"\s*(?://[^\n]*\s*)+")


_RAW = re.compile(r"[bB]?[rR]")
_ESCAPE = re.compile(r"""\\(?:[abfnrtv"'`?\\]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})""")


class ReadError(Exception):
    """Why an expression is refused."""


def tokens(text: str) -> list[tuple[str, str]]:
    """Return the kind and text of each word, and an empty one at the end; raise ReadError for what is none."""
    found: list[tuple[str, str]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None and _COMMENT.fullmatch(text, at):
            break
        if match is None:
            raise ReadError(f'"{text[at:].strip()[:10]}" cannot be read')
        if match.lastgroup == "text" and not _is_string(match["text"]):
            raise ReadError(f'"{match["text"][:10]}" cannot be read')
        found.append((str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return [*found, ("end", "")]


def _is_string(text: str) -> bool:
    """Tell whether every backslash in a string begins an escape, where it is not a raw one."""
    return bool(_RAW.match(text)) or "\\" not in _ESCAPE.sub("", text)
