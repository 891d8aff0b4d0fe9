"""The structure tables against Talos's own JSON schemas of every release."""

import json
from typing import Any

import pytest

from machinery.structure import DOCUMENTS, STRUCTS, V1ALPHA1, ListOf, MapOf, Release, Scalar, Struct, Type
from tests.shared import shared

MINORS = (10, 11, 12, 13)
INTEGERS = {"int", "uint", "uint8", "uint16", "uint32", "uint64", "filemode", "disksize"}

# Deprecated keys that Talos still reads and its newest schema leaves out.
DEPRECATED = {
    "APIServerConfig": {"disablePodSecurityPolicy"},
    "ClusterConfig": {"allowSchedulingOnMasters"},
    "EtcdConfig": {"subnet"},
    "FeaturesConfig": {"apidCheckExtKeyUsage", "rbac", "stableHostname"},
    "InstallConfig": {"bootloader", "extensions", "extraKernelArgs"},
    "MachineConfig": {"disks", "env", "network", "registries", "systemDiskEncryption", "time"},
    "V1Alpha1": {"persist"},
}
# The schema says `crt`, Talos reads `cert`.
MISNAMED = {("CertificateAndKey", "cert")}
# The schema calls KubeSpanEndpointsConfig by a name that Talos does not know, and has no ImageVerificationConfig.
MISNAMED_KINDS = {"KubeSpanEndpoints": "KubeSpanEndpointsConfig"}
MISSING_KINDS = {"ImageVerificationConfig"}
# Where the schema shows another type than Talos reads: an item for a list, objects for URLs, numbers for words.
MISTYPED = ("acceptedCAs", "options", "endpoint", "resources", "action")


class Comparison:
    """Walks one schema beside the tables and notes where they differ."""

    def __init__(self, minor: int) -> None:
        schema = json.loads(shared(f"schemas/talos-1.{minor}.json").read_text(encoding="utf-8"))
        self.defs: dict[str, Any] = schema["$defs"]
        self.release: Release = (1, minor, 999)
        self.unknown: list[str] = []
        self.extra: set[tuple[str, str]] = set()
        self.mistyped: list[str] = []
        self.kinds: set[str] = set()
        self._seen: set[tuple[str, int]] = set()
        for entry in schema["oneOf"]:
            self._document(self._resolved(entry))

    def _resolved(self, node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            node = self.defs[node["$ref"].rpartition("/")[2]]
        return node

    def _document(self, node: dict[str, Any]) -> None:
        if "machine" in node["properties"]:
            self._compare(V1ALPHA1, node, "v1alpha1")
            return
        kind = node["properties"]["kind"]["enum"][0]
        kind = MISNAMED_KINDS.get(kind, kind)
        self.kinds.add(kind)
        if kind in DOCUMENTS and DOCUMENTS[kind].since <= self.release:
            self._compare(DOCUMENTS[kind], node, kind)
        else:
            self.unknown.append(kind)

    def _compare(self, kind: Type, node: dict[str, Any], path: str) -> None:
        node = self._resolved(node)
        if isinstance(kind, Struct) and "properties" in node:
            self._struct(kind, node["properties"], id(node), path)
        elif isinstance(kind, ListOf) and node.get("type") == "array":
            self._compare(kind.item, node["items"], f"{path}[]")
        elif isinstance(kind, MapOf) and node.get("type") == "object":
            for pattern in node.get("patternProperties", {}).values():
                self._compare(kind.item, pattern, f"{path}.*")
        elif not self._fits(kind, node):
            self.mistyped.append(path)

    def _fits(self, kind: Type, node: dict[str, Any]) -> bool:
        wanted = node.get("type")
        if isinstance(kind, Scalar):
            by_type = {"boolean": {"bool"}, "integer": INTEGERS}
            return kind.name in by_type[wanted] if wanted in by_type else wanted not in ("array", "object")
        return wanted == "object" and not isinstance(kind, ListOf)

    def _struct(self, kind: Struct, properties: dict[str, Any], identity: int, path: str) -> None:
        if (kind.name, identity) in self._seen:
            return
        self._seen.add((kind.name, identity))
        fields = kind.at(self.release)
        for key, node in properties.items():
            if key in fields:
                self._compare(fields[key].type, node, f"{path}.{key}")
            else:
                self.unknown.append(f"{path}.{key}")
        self.extra |= {(kind.name, key) for key in fields if key not in properties}


@pytest.mark.parametrize("minor", MINORS)
def test_every_key_of_a_release_is_known_with_its_type(minor: int) -> None:
    comparison = Comparison(minor)
    assert [path for path in comparison.unknown if not path.endswith("clientIdentity.crt")] == []
    assert [path for path in comparison.mistyped if not path.endswith(MISTYPED)] == []


def test_no_key_is_known_that_the_newest_release_does_not_have() -> None:
    comparison = Comparison(MINORS[-1])
    deprecated = {(name, key) for name, keys in DEPRECATED.items() for key in keys}
    assert comparison.extra - MISNAMED == deprecated


@pytest.mark.parametrize("minor", MINORS)
def test_a_release_knows_the_kinds_of_documents_that_it_has(minor: int) -> None:
    known = {kind for kind, struct in DOCUMENTS.items() if struct.since <= (1, minor, 999)}
    assert known - Comparison(minor).kinds <= MISSING_KINDS


def test_every_structure_is_used() -> None:
    used: set[str] = {"V1Alpha1", *DOCUMENTS}
    waiting: list[Type] = [V1ALPHA1, *DOCUMENTS.values()]
    while waiting:
        kind = waiting.pop()
        for part in (
            [field.type for field in kind.fields] if isinstance(kind, Struct) else [getattr(kind, "item", None)]
        ):
            if part is None or (isinstance(part, Struct) and part.name in used):
                continue
            used |= {part.name} if isinstance(part, Struct) else set()
            waiting.append(part)
    assert set(STRUCTS) == used
