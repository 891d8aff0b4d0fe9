"""Checks of the documents about registries, logs, extensions, the watchdog and image verification."""

import re
from collections.abc import Callable

from machinery.cel import OOM_RANKING, OOM_TRIGGER, expression_problem
from machinery.checks.problems import Problems, Values, has_port
from machinery.goform import duration
from machinery.pem import certificate_problem, key_problem
from machinery.structure import Release
from machinery.urls import go_url

_PATTERNS_WARNED: Release = (1, 13, 4)
_WATCHDOG_MINIMUM = 10 * 10**9


def _needs_name(values: Values, problems: Problems) -> None:
    if not values.get("name"):
        problems.error("name", "is missing")


def registry_mirror(values: Values, problems: Problems) -> None:
    """Check a RegistryMirrorConfig."""
    _needs_name(values, problems)
    for index, endpoint in enumerate(values.get("endpoints", ())):
        url = endpoint.get("url", "")
        if not url:
            problems.error(f"endpoints[{index}].url", "is missing")
        elif go_url(url).scheme not in ("http", "https"):
            problems.error(f"endpoints[{index}].url", "must be an http or https URL")


def registry_auth(values: Values, problems: Problems) -> None:
    """Check a RegistryAuthConfig."""
    _needs_name(values, problems)
    if sum(bool(values.get(key)) for key in ("username", "identityToken", "auth")) > 1:
        problems.error("", "use only one of username with password, auth, identityToken", "auth")


def registry_tls(values: Values, problems: Problems) -> None:
    """Check a RegistryTLSConfig."""
    _needs_name(values, problems)
    if values.get("ca") and (problem := certificate_problem(values["ca"])):
        problems.error("ca", problem)
    identity = values.get("clientIdentity")
    if identity is not None:
        if problem := certificate_problem(identity.get("cert", "")):
            problems.error("clientIdentity.cert", problem)
        if problem := key_problem(identity.get("key", "")):
            problems.error("clientIdentity.key", problem)


def extension_service(values: Values, problems: Problems) -> None:
    """Check an ExtensionServiceConfig."""
    files = values.get("configFiles", [])
    _needs_name(values, problems)
    if not files and not values.get("environment"):
        problems.error("", "it has neither configFiles nor environment")
    for index, file in enumerate(files):
        for key in ("content", "mountPath"):
            if not file.get(key):
                problems.error(f"configFiles[{index}].{key}", "is missing")


def environment(values: Values, problems: Problems) -> None:
    """Check an EnvironmentConfig."""
    for name in values.get("variables", {}):
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            problems.error("", "is no name of an environment variable", "variables", name, value=name)


def event_sink(values: Values, problems: Problems) -> None:
    """Check an EventSinkConfig."""
    if not has_port(values.get("endpoint", "")):
        problems.error("endpoint", "must be a host with a port")


def kmsg_log(values: Values, problems: Problems) -> None:
    """Check a KmsgLogConfig."""
    _needs_name(values, problems)
    if not values.get("url"):
        problems.error("url", "is missing")
        return
    url = go_url(values["url"])
    if url.scheme not in ("tcp", "udp") or url.path not in ("", "/") or not url.port:
        problems.error("url", "must be tcp or udp, with a port and without a path")


def out_of_memory(values: Values, problems: Problems) -> None:
    """Check an OOMConfig."""
    for key, context in (("triggerExpression", OOM_TRIGGER), ("cgroupRankingExpression", OOM_RANKING)):
        if values.get(key) and (problem := expression_problem(values[key], context)):
            problems.error(f"{key}:", problem)
    if values.get("sampleInterval", "").startswith("-"):
        problems.error("sampleInterval", "must not be negative")


def watchdog(values: Values, problems: Problems) -> None:
    """Check a WatchdogTimerConfig."""
    if not values.get("device"):
        problems.error("device", "is missing")
    timeout = values.get("timeout", "")
    if timeout and (duration(timeout) or 0) < _WATCHDOG_MINIMUM:
        problems.error("timeout", "must be at least 10s")


def siderolink(values: Values, problems: Problems) -> None:
    """Check a SideroLinkConfig."""
    if not values.get("apiUrl"):
        problems.error("apiUrl", "is missing")
        return
    url = go_url(values["apiUrl"])
    if url.scheme not in ("https", "grpc") or url.path not in ("", "/"):
        problems.error("apiUrl", "must be https or grpc and have no path")


def image_verification(values: Values, problems: Problems) -> None:
    """Check an ImageVerificationConfig."""
    for index, rule in enumerate(values.get("rules", ())):
        _image_rule(rule, problems.under(f"rules[{index}]"))


def _image_rule(rule: Values, problems: Problems) -> None:
    image = rule.get("image", "")
    if not image:
        problems.error("image", "is missing")
    if problems.release >= _PATTERNS_WARNED:
        _image_pattern(image, problems)
    verifiers = [key for key in ("keyless", "publicKey") if key in rule]
    decided = [key for key in ("skip", "deny") if rule.get(key)]
    if len(decided) + len(verifiers) != 1:
        problems.error("", "it needs exactly one of skip, deny, keyless, publicKey")
    if (keyless := rule.get("keyless")) is not None:
        if not keyless.get("issuer"):
            problems.error("keyless.issuer", "is missing")
        if not keyless.get("subject") and not keyless.get("subjectRegex"):
            problems.error("keyless", "needs subject or subjectRegex")
    if rule.get("publicKey") == {}:
        problems.error("publicKey.certificate", "is missing")


def _image_pattern(image: str, problems: Problems) -> None:
    if "@" in image:
        problems.warn("image", "holds @, but only registry and repository are compared, never a digest")
    if ":" in image.partition("/")[2]:
        problems.warn("image", "holds :, but only registry and repository are compared, never a tag")
    if "/" not in image and image not in ("*", ""):
        problems.warn("image", "has no /: an image such as nginx is compared as docker.io/library/nginx")


CHECKS: dict[str, Callable[[Values, Problems], None]] = {
    "RegistryMirrorConfig": registry_mirror,
    "RegistryAuthConfig": registry_auth,
    "RegistryTLSConfig": registry_tls,
    "ExtensionServiceConfig": extension_service,
    "EnvironmentConfig": environment,
    "EventSinkConfig": event_sink,
    "KmsgLogConfig": kmsg_log,
    "OOMConfig": out_of_memory,
    "WatchdogTimerConfig": watchdog,
    "SideroLinkConfig": siderolink,
    "ImageVerificationConfig": image_verification,
}
