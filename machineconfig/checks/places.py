"""Where in a configuration the words of Talos's validation point."""

import re
from typing import Any

from machineconfig.paths import MAIN, Documents, Path, find, value_at

_TITLE = re.compile(r"([A-Z]\w+(?:/[^\s:]+)?): ")
_PLACE = re.compile(r"(?:machine|cluster)[\w.\[\]/-]*")
_DEVICE = re.compile(r"machine\.network (\S+): (.*)")
_INTERFACES: Path = ("machine", "network", "interfaces")


def place_of(problem: str, documents: Documents) -> tuple[str, Path]:
    """The document and the path that a problem begins with, as far as they are there."""
    named = _TITLE.match(problem)
    title = named[1] if named and named[1] in documents else MAIN
    rest = problem[named.end() :] if named else problem
    device = _DEVICE.match(rest) if title == MAIN else None
    if device:
        return title, _in_device(documents, device[1], device[2])
    found = _PLACE.search(rest)
    text = found[0].rstrip(".") if found and title == MAIN else ""
    while text:
        place = find(documents, text)
        if place is not None:
            return place
        text = text.rpartition(".")[0]
    return title, ()


def _in_device(documents: Documents, name: str, problem: str) -> Path:
    """The entry of an interface that is called by its name or its number, and the first of its keys that is named."""
    try:
        devices: list[Any] = value_at(documents[MAIN], _INTERFACES)
    except LookupError:
        return _INTERFACES[:2]
    for index, device in enumerate(devices):
        if isinstance(device, dict) and name in (device.get("interface"), f"interfaces[{index}]"):
            key = next((word for word in re.findall(r"\w+", problem) if word in device), None)
            return (*_INTERFACES, index, *([key] if key else ()))
    return _INTERFACES
