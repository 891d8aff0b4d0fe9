"""Documents that collide: with one of their own name, with another kind, with a field of the main document."""

import re
from collections.abc import Iterator
from dataclasses import replace

from findings import Finding, written
from machineconfig.checks.subject import Part, Subject

# Kinds of which one name can have only one (machinery, ConflictsWithKinds).
_RIVALS = (
    ("UserVolumeConfig", "ExistingVolumeConfig"),
    ("Layer2VIPConfig", "HCloudVIPConfig"),
    ("BondConfig", "BridgeConfig", "DummyLinkConfig", "LinkConfig", "VLANConfig", "VRFConfig", "WireguardConfig"),
)
# Kinds and the fields of the main document that say the same (machinery, V1Alpha1ConflictValidate).
_FIELDS = (
    ("ResolverConfig", ("machine", "network", "nameservers")),
    ("ResolverConfig", ("machine", "network", "searchDomains")),
    ("ResolverConfig", ("machine", "network", "disableSearchDomain")),
    ("TimeSyncConfig", ("machine", "time", "servers")),
    ("TimeSyncConfig", ("machine", "time", "disabled")),
    ("TimeSyncConfig", ("machine", "time", "bootTimeout")),
    ("KubeSpanConfig", ("machine", "network", "kubespan")),
)
_VOLUMES = (
    "UserVolumeConfig",
    "ExistingVolumeConfig",
    "RawVolumeConfig",
    "SwapVolumeConfig",
    "ExternalVolumeConfig",
)
_VOLUME_NAME = re.compile(r"[A-Za-z0-9-]{1,34}")


def is_described_once_in_a_level(subject: Subject) -> Iterator[Finding]:
    """A kind and name is there once in a file and once in a level; across levels it merges, and the narrower wins."""
    files: dict[tuple[str, str, str], Part] = {}
    levels: dict[tuple[str, str, str], Part] = {}
    for part in subject.parts:
        document = part.document
        if not document.is_mapping:
            continue
        file_key = (part.patch.source, document.kind, document.name)
        level_key = (part.level, document.kind, document.name)
        other = files.get(file_key) or (levels.get(level_key) if document.kind else None)
        # The patch in front of a delete is of the same file, and a text of its own.
        if other is not None and (other.patch is part.patch or other.patch.source != part.patch.source):
            message = f"{document.title} is described twice in this level, after {other.place}"
            yield subject.finding(part, None, message, "make one document of them")
        files.setdefault(file_key, part)
        levels.setdefault(level_key, part)


def has_no_rival(subject: Subject) -> Iterator[Finding]:
    """No other document claims the same volume, link or address under another kind."""
    for kinds in _RIVALS:
        first: dict[str, Part] = {}
        for part in subject.of_kind(*kinds):
            other = first.setdefault(part.document.name, part)
            if other.document.kind != part.document.kind:
                message = f"{part.title} collides with {other.title}, {other.place}"
                yield subject.finding(part, None, message, "keep one of the two, or give one another name")


def is_not_said_in_machine_too(subject: Subject) -> Iterator[Finding]:
    """A document does not repeat what the field that it replaces says."""
    for kind, path in _FIELDS:
        for part in subject.of_kind(kind):
            for other, entry in subject.fields(*path):
                if not entry.is_empty:
                    message = f"{kind} collides with {written(path)}, {other.place_of(entry)}"
                    finding = subject.finding(part, None, message, "say it in one of the two places")
                    place = replace(finding.place, document=other.document.place, path=entry.path)
                    yield replace(finding, place=place)


def has_a_possible_volume_name(subject: Subject) -> Iterator[Finding]:
    """A volume's name becomes a partition label: letters, digits, hyphens, at most 34."""
    for part in subject.of_kind(*_VOLUMES):
        if not _VOLUME_NAME.fullmatch(part.document.name):
            name = part.document.root.get("name")
            shown = part.shown(name) if name else "nothing"
            message = f"{part.document.kind} cannot be called {shown}"
            yield subject.finding(part, name, message, "use 1 to 34 letters, digits and hyphens")
