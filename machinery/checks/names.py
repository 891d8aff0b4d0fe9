"""Kubernetes's rules for labels, annotations and taints, and DNS names."""

import re

from machinery.checks.problems import Problems

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DNS = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}(\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RESERVED = ("talos.dev/owned-labels", "talos.dev/owned-annotations", "talos.dev/owned-taints")
_ANNOTATIONS_LIMIT = 256 * 1024
_NAME_LIMIT = 63


def key_problem(key: str) -> str:
    """Return what is wrong with the key of a label, annotation or taint, or nothing."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return "has more than one slash"
    if slash and not (len(prefix) <= 253 and _SUBDOMAIN.fullmatch(prefix)):
        return "does not start with a domain name"
    if not name or len(name) > _NAME_LIMIT or not _NAME.fullmatch(name):
        return f"is not a name of 1 to {_NAME_LIMIT} letters, digits, -, _ and ."
    return ""


def value_problem(value: str) -> str:
    """Return what is wrong with the value of a label or taint, or nothing."""
    if not value or (len(value) <= _NAME_LIMIT and _NAME.fullmatch(value)):
        return ""
    return f"is not a value of at most {_NAME_LIMIT} letters, digits, -, _ and ."


def check_labels(labels: dict[str, str], problems: Problems) -> None:
    """Check machine.nodeLabels."""
    for key in sorted(labels):
        for text, problem in ((key, key_problem(key)), (labels[key], value_problem(labels[key]))):
            if problem:
                problems.error("machine.nodeLabels:", problem, value=text)


def check_annotations(annotations: dict[str, str], problems: Problems) -> None:
    """Check machine.nodeAnnotations."""
    for key in sorted(annotations):
        if problem := key_problem(key):
            problems.error("machine.nodeAnnotations:", problem, value=key)
        if key in _RESERVED:
            problems.error("machine.nodeAnnotations:", f"{key} is Talos's own")
    if sum(map(_size, (*annotations, *annotations.values()))) > _ANNOTATIONS_LIMIT:
        problems.error("machine.nodeAnnotations:", f"together they are larger than {_ANNOTATIONS_LIMIT} bytes")


def check_taints(taints: dict[str, str], problems: Problems) -> None:
    """Check machine.nodeTaints: `key: value:effect` or `key: effect`."""
    for key in sorted(taints):
        value, colon, effect = taints[key].partition(":")
        effect = effect if colon else value
        if problem := key_problem(key):
            problems.error("machine.nodeTaints:", problem, value=key)
        elif effect not in _EFFECTS:
            problems.error("machine.nodeTaints: the effect", f"of {key} is none of {', '.join(_EFFECTS)}", value=effect)
        elif colon and (problem := value_problem(value)):
            problems.error("machine.nodeTaints:", problem, value=value)


def is_dns_name(name: str) -> bool:
    """Tell whether a name is one that DNS can hold."""
    return bool(name and len(name) - name.count(".") <= 255 and _DNS.fullmatch(name))


def _size(text: str) -> int:
    """Return the bytes of a text, some of which may be no UTF-8: `!!binary` gives any."""
    return len(text.encode(errors="surrogateescape"))
