"""Strict templates: nothing undefined, nothing missing and nothing but text gets into a patch unseen."""

import re
from collections.abc import Iterator
from functools import lru_cache
from types import TracebackType

from jinja2 import Template, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

from machineconfig.bounds import LONGEST, RefusedError, joined
from machineconfig.grammar import SaidError
from machineconfig.sandbox import Sandbox
from machineconfig.unknown import NAMES, UnknownNameError

_MARK = re.compile("\ue000([0-9]+)\ue001")
_LEADING = re.compile("(?:\ue000[0-9]+\ue001)*\ue000([0-9]+)\ue001")

_WIDEST = 400
"""Characters of a line in which what has failed is looked for."""


class TemplateFaultError(Exception):
    """What is wrong in a template, at which of its lines.

    `always`: it is so for every node, so that nobody need render the file again.
    """

    def __init__(self, line: int | None, message: str, cure: str, *, always: bool = False) -> None:
        """`line` counts from 1; it is None if the template never got as far as a line."""
        super().__init__(message)
        self.line, self.message, self.cure, self.always = line, message, cure, always


class _LineMarks(Extension):
    """Marks every line of a template's own text, so that a line of the rendering finds its way back."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for token in stream:
            if token.type == "data":
                parts = token.value.split("\n")
                marked = (f"\ue000{token.lineno + index}\ue001{part}" for index, part in enumerate(parts))
                yield Token(token.lineno, "data", "\n".join(marked))
            else:
                yield token


def render(source: str, name: str, values: dict[str, object]) -> tuple[str, tuple[int, ...]]:
    """The text, and for each of its lines the template's line.

    Raises TemplateFaultError. No `$VAR` is expanded, and nothing is quoted: the text is what the template says.
    """
    template = _template(source, name)
    try:
        marked = joined(template.root_render_func(template.new_context(values)))
    except Exception as error:  # a template can fail as any program can
        raise _fault(error, _failing_line(template, name, error.__traceback__), source) from None
    return _unmark(marked)


def _template(source: str, name: str) -> Template:
    if len(source) > LONGEST:
        message = f"is longer than the {LONGEST} characters that a template may have"
        cure = "include long texts, and divide it into several patches"
        raise TemplateFaultError(None, message, cure, always=True)
    try:
        return _compile(source, name)
    except SaidError as error:
        raise TemplateFaultError(error.line, error.message or "", error.cure, always=True) from None
    except TemplateSyntaxError as error:
        raise TemplateFaultError(error.lineno, error.message or "", "correct the template", always=True) from None
    except Exception as error:  # Jinja itself gives up on some texts; that must never end in a traceback
        message = f"is no template ({type(error).__name__})"
        raise TemplateFaultError(None, message, "correct the template", always=True) from None


def _fault(error: Exception, line: int | None, source: str) -> TemplateFaultError:
    text = source.split("\n")[line - 1][:_WIDEST] if line else ""
    where = _expressions(text)
    if isinstance(error, RefusedError):
        return TemplateFaultError(line, f"{where}{error.message}", error.cure, always=error.always)
    if isinstance(error, UnknownNameError):
        return TemplateFaultError(line, *error.said(text))
    if isinstance(error, TemplateError):
        return TemplateFaultError(line, str(error.message), f"a template knows {', '.join(NAMES)}")
    # The error's own text may quote a value, and a value may be a secret: its kind has to do.
    return TemplateFaultError(line, f"{where}fails ({type(error).__name__})", "correct the template")


@lru_cache(maxsize=1024)
def _compile(source: str, name: str) -> Template:
    environment = _environment()
    code = environment.compile(source, name, name)
    return Template.from_code(environment, code, environment.make_globals(None))


@lru_cache(maxsize=1)
def _environment() -> Sandbox:
    return Sandbox(extensions=[_LineMarks], trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)


def _unmark(marked: str) -> tuple[str, tuple[int, ...]]:
    text, lines, last = [], [], 1
    for line in marked.split("\n"):
        found = _LEADING.match(line)
        last = int(found[1]) if found else last
        lines.append(last)
        rest = line[found.end() :] if found else line
        text.append(_MARK.sub("", rest) if "\ue000" in rest else rest)
    return "\n".join(text), tuple(lines)


def _failing_line(template: Template, name: str, trace: TracebackType | None) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == name:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


def _expressions(line: str) -> str:
    """What is between the braces on a line, to say what has failed there."""
    found = [each.strip() for each in re.findall(r"\{[{%]-?(.*?)-?[%}]\}", line)]
    return f"{' and '.join(found)} " if found else ""
