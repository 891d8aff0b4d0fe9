"""Strict templates: nothing undefined, nothing missing and nothing but text gets into a patch unseen."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network
from types import TracebackType
from typing import Any

from jinja2 import Environment, Template, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Undefined

from machineconfig.bounds import BoundedEnvironment, RefusedError, joined
from machineconfig.unknown import NAMES, Unknown, UnknownNameError

_MARK = re.compile("\ue000([0-9]+)\ue001")
_LEADING = re.compile("(?:\ue000[0-9]+\ue001)*\ue000([0-9]+)\ue001")


class TemplateFaultError(Exception):
    """What is wrong in a template, at which of its lines."""

    def __init__(self, line: int | None, message: str, remedy: str) -> None:
        """`line` counts from 1; it is None if the template never got as far as a line."""
        super().__init__(message)
        self.line, self.message, self.remedy = line, message, remedy


class _LineMarks(Extension):
    """Marks every line of a template's own text, so that a line of the rendering finds its way back."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Put a line's number in front of it."""
        for token in stream:
            if token.type == "data":
                parts = token.value.split("\n")
                marked = (f"\ue000{token.lineno + index}\ue001{part}" for index, part in enumerate(parts))
                yield Token(token.lineno, "data", "\n".join(marked))
            else:
                yield token


def render(source: str, name: str, values: Mapping[str, object]) -> tuple[str, tuple[int, ...]]:
    """The text, and for each of its lines the template's line.

    Raises TemplateFaultError. No `$VAR` is expanded, and nothing is quoted: the text is what the template says.
    """
    try:
        template = _compile(source, name)
    except TemplateSyntaxError as error:
        raise TemplateFaultError(error.lineno, error.message or "", "correct the template") from None
    except Exception as error:  # Jinja itself gives up on some texts; that must never end in a traceback
        raise TemplateFaultError(None, f"is no template ({type(error).__name__})", "correct the template") from None
    try:
        marked = joined(template.root_render_func(template.new_context(dict(values))))
    except Exception as error:  # a template can fail as any program can
        raise _fault(error, _failing_line(template, name, error.__traceback__), source) from None
    return _unmark(marked)


def _fault(error: Exception, line: int | None, source: str) -> TemplateFaultError:
    if isinstance(error, RefusedError):
        where = _expressions(source, line)
        return TemplateFaultError(line, f"{where}{error.message}", error.remedy)
    if isinstance(error, UnknownNameError):
        return TemplateFaultError(line, *error.said(source.split("\n")[line - 1] if line else ""))
    if isinstance(error, TemplateError):
        return TemplateFaultError(line, str(error.message), f"a template knows {', '.join(NAMES)}")
    # The error's own text may quote a value, and a value may be a secret: its kind has to do.
    return TemplateFaultError(
        line, f"{_expressions(source, line)}fails ({type(error).__name__})", "correct the template"
    )


@lru_cache(maxsize=1024)
def _compile(source: str, name: str) -> Template:
    environment = _environment()
    code = environment.compile(source, name, name)
    return Template.from_code(environment, code, environment.make_globals(None))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = BoundedEnvironment(
        undefined=Unknown,
        extensions=[_LineMarks],
        finalize=_writable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["flow"] = _flow
    return environment


def _writable(value: object) -> object:
    """The text of one `{{ }}`: only what has one obvious spelling."""
    if isinstance(value, Undefined):
        return str(value)  # raises
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):  # whose __str__ is object's own
        return value
    if value is None:
        raise RefusedError("has no value here", "guard it with {% if %} or give the value in the stack file")
    if isinstance(value, list | tuple | set | frozenset | Mapping):
        raise RefusedError("is more than one value", "write it with | flow, or loop over it")
    if callable(value) or hasattr(type(value), "model_fields") or type(value).__str__ is object.__str__:
        raise RefusedError("is no text", "write the part of it that is meant")
    return value


def _flow(value: object) -> str:
    """A value as YAML in flow style (JSON, every string quoted): for lists, maps and free text."""
    if isinstance(value, Undefined):
        str(value)  # raises
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | IPv4Network | IPv6Network):
        return [_plain(item) for item in value]
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return value
    return str(value)


def _unmark(marked: str) -> tuple[str, tuple[int, ...]]:
    text, lines, last = [], [], 1
    for line in marked.split("\n"):
        found = _LEADING.match(line)
        last = int(found[1]) if found else last
        lines.append(last)
        text.append(_MARK.sub("", line))
    return "\n".join(text), tuple(lines)


def _failing_line(template: Template, name: str, trace: TracebackType | None) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == name:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


def _expressions(source: str, line: int | None) -> str:
    """What stands between the braces on a line, to say what has failed there."""
    if line is None:
        return ""
    found = re.findall(r"\{[{%]-?\s*(.*?)\s*-?[%}]\}", source.split("\n")[line - 1])
    return f"{' and '.join(found)} " if found else ""
