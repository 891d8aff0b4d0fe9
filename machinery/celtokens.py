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
        found.append((str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return [*found, ("end", "")]
