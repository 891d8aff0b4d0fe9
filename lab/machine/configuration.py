"""Reading machine configurations: what Talos refuses, what may change while a machine runs, how two differ."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from lab.machine.documents import Document
from lab.machine.settings import Settings
from machinery import ConfigError, Configuration, parse_configuration, validate

_V1ALPHA1 = {"kind": "v1alpha1"}
# What Talos takes into use without a reboot, below the v1alpha1 document.
_IMMEDIATE = ("debug", "cluster")
_IMMEDIATE_MACHINE = (
    *("ca", "acceptedCAs", "time", "certSANs", "install", "network", "sysfs", "sysctls", "logging", "controlPlane"),
    *("kubelet", "kernel", "registries", "pods", "seccompProfiles", "nodeAnnotations", "nodeLabels", "nodeTaints"),
)
_IMMEDIATE_FEATURES = ("kubernetesTalosAPIAccess", "kubePrism", "hostDNS", "imageCache", "nodeAddressSortAlgorithm")


class RefusedError(Exception):
    """A configuration that the machine does not take; the text says why and holds no secret."""


def read(text: str) -> Settings:
    """A configuration that was taken before; raises RefusedError when it cannot be read."""
    try:
        return _settings(parse_configuration(text))
    except ConfigError as error:
        raise RefusedError(str(error)) from error


def check(text: str, version: str = "", mode: str = "metal") -> tuple[Settings, tuple[str, ...]]:
    """A configuration that somebody sends to a machine of this Talos version, with the validator's warnings.

    Raises RefusedError for what that version does not know, and for a Kubernetes that it does not run.
    """
    try:
        configuration = parse_configuration(text, version)
        warnings = validate(configuration, mode, at_runtime=True)
    except ConfigError as error:
        raise RefusedError(str(error)) from error
    return _settings(configuration), tuple(map(str, warnings))


def unreadable(text: str, version: str) -> str:
    """Why a machine of this Talos version cannot boot with the configuration on its disk; empty where it can."""
    try:
        parse_configuration(text, version)
    except ConfigError as error:
        return str(error)
    return ""


def needs_reboot(before: Settings, after: Settings) -> tuple[str, ...]:
    """The paths that differ and that Talos cannot change while it runs; none when it can take all of it at once.

    Only the v1alpha1 document matters: every other document is taken into use as it comes.
    """
    return tuple(_differences(_rest(before), _rest(after), ""))


def diff(before: str | None, after: str, secrets: tuple[str, ...]) -> str:
    """What Talos answers to a dry run, with every secret taken out."""
    lines = difflib.unified_diff(
        (before or "").splitlines(),
        after.splitlines(),
        "a/machine-configuration",
        "b/machine-configuration",
        lineterm="",
    )
    text = "\n".join(lines)
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "**********")
    return f"Config diff:\n\n{text or 'No changes.'}"


def _settings(configuration: Configuration) -> Settings:
    kinds = ((document.values, {"kind": document.kind}) for document in configuration.documents)
    return Settings(tuple(values if kind == _V1ALPHA1 else {**values, **kind} for values, kind in kinds))


def _rest(settings: Settings) -> dict[str, Any]:
    document = next((dict(document) for document in settings.documents if "kind" not in document), {})
    machine = {key: value for key, value in settings.machine.items() if key not in _IMMEDIATE_MACHINE}
    features = machine.get("features")
    if isinstance(features, Mapping):
        machine["features"] = {key: value for key, value in features.items() if key not in _IMMEDIATE_FEATURES}
    return {**{key: value for key, value in document.items() if key not in _IMMEDIATE}, "machine": machine}


def _differences(before: object, after: object, path: str) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*map(str, before), *map(str, after)}):
            yield from _differences(_entry(before, key), _entry(after, key), f"{path}.{key}")
    elif (before or None) != (after or None):  # Talos does not tell an empty value from a missing one
        yield path


def _entry(mapping: Document, key: str) -> object:
    return mapping.get(key)
