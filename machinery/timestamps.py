"""Dates as Talos's reader takes them where anything may stand, and as it writes them: with a time of day and zone."""

import re
from calendar import monthrange

_DATE = r"(\d{4})-(\d{1,2})-(\d{1,2})"
_TIME = r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d+))?"
_STAMP = re.compile(rf"{_DATE}(?:[Tt]{_TIME}(Z|[-+]\d{{2}}:\d{{2}})| +{_TIME})?", re.ASCII)
_LEAP_YEAR = 4  # in place of the year 0, which Talos's reader knows


def timestamp(text: str) -> str | None:
    """Return a date or a time as Talos writes it again, or None for what it takes for text."""
    found = _STAMP.fullmatch(text)
    if found is None:
        return None
    year, month, day, *times = found.groups()
    hour, minute, second, fraction = times[:4] if times[0] is not None else times[5:]
    zone = times[4] or "Z"
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= monthrange(int(year) or _LEAP_YEAR, int(month))[1]):
        return None
    clock = [int(part or 0) for part in (hour, minute, second)]
    if not (clock[0] <= 23 and clock[1] <= 59 and clock[2] <= 59 and _is_zone(zone)):
        return None
    rest = (fraction or "")[:9].rstrip("0")
    return (
        f"{year}-{int(month):02}-{int(day):02}T{clock[0]:02}:{clock[1]:02}:{clock[2]:02}"
        f"{'.' if rest else ''}{rest}{'Z' if zone[1:] == '00:00' else zone}"
    )


def _is_zone(zone: str) -> bool:
    return zone == "Z" or (int(zone[1:3]) <= 24 and int(zone[4:]) <= 59)
