"""The order in which Talos writes the keys of a map: numbers first, digits in text by the number they make."""

from collections.abc import Iterable
from functools import cmp_to_key, lru_cache

from machinery.emit import Verbatim
from machinery.resolve import implied

# In which order kinds of keys come that are not all numbers or all text.
_RANKS = {"bool": 0, "int": 1, "float": 2, "null": 3, "str": 4, "timestamp": 5}


def in_go_order(keys: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of a map in the order in which they are written."""
    return _ordered(tuple(keys))


@lru_cache(maxsize=1024)
def _ordered(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(keys, key=cmp_to_key(_compared)))


def _compared(left: str, right: str) -> int:
    if not isinstance(left, Verbatim) and not isinstance(right, Verbatim):
        return -1 if _is_before(left, right) else 1
    kinds, numbers = zip(*(_number(key) for key in (left, right)), strict=True)
    if None not in numbers and numbers[0] != numbers[1]:
        return -1 if numbers[0] < numbers[1] else 1
    return _RANKS[kinds[0]] - _RANKS[kinds[1]]


def _number(key: str) -> tuple[str, float | None]:
    kind, value = implied(str(key)) if isinstance(key, Verbatim) else ("str", key)
    return kind, float(value) if kind in ("bool", "int", "float") else None


def _is_before(left: str, right: str) -> bool:
    at = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    if at is None:
        return len(left) < len(right)
    a, b = left[at], right[at]
    in_digits = at > 0 and _is_digit(left[at - 1])
    if a.isalpha() and b.isalpha():
        return a < b
    if a.isalpha() or b.isalpha():
        return a.isalpha() if in_digits else b.isalpha()
    first, second = _digits(left, at), _digits(right, at)
    more = "1" if "0" in (a, b) and _has_number_before(left, at) else ""
    numbers = int(more + first or 0), int(more + second or 0)
    if numbers[0] != numbers[1]:
        return numbers[0] < numbers[1]
    return len(first) < len(second) if len(first) != len(second) else a < b


def _is_digit(sign: str) -> bool:
    return sign.isdecimal()


def _digits(text: str, at: int) -> str:
    end = at
    while end < len(text) and _is_digit(text[end]):
        end += 1
    return text[at:end]


def _has_number_before(text: str, at: int) -> bool:
    """Tell whether the digits before a place are more than zeros."""
    start = at
    while start > 0 and _is_digit(text[start - 1]):
        start -= 1
    return text[start:at].strip("0") != ""
