"""`python -m tests.oracle.structure`, or `make structure`: write the structure tables from the library's own types.

A Go type that is new to machinery/ ends it with its name: say below what it is. What the library's types do not tell
stands below too, with where it is known from.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.oracle.library import ask, program

FOLDER = Path(__file__).parents[2] / "machinery" / "structure" / "releases"
# The release that the table of a minor release is made from.
TABLES = {"1.12": "1.12.4", "1.13": "1.13.9"}
MODULE = "github.com/siderolabs/talos/pkg/machinery"
# Fields that came with a patch release, as the modules of the releases before and at it show; of 1.12.9 there is none.
LATER = {
    ("1.12", "KubeSpanFilters", "excludeAdvertisedNetworks"): "[string] since 1.12.4",
    ("1.12", "document OOMConfig", "strictCgroupClassOrdering"): "bool? since 1.12.9",
    ("1.13", "document OOMConfig", "strictCgroupClassOrdering"): "bool? since 1.13.4",
}
# How machinery/scalars.py calls Go's types.
SCALARS = {
    **{name: name for name in ("string", "bool", "int", "uint", "uint8", "uint16", "uint32", "uint64")},
    "time.Duration": "duration",
    "cel.Expression": "cel",
    "block.ByteSize": "bytes",
    "block.Size": "size",
    "block.EncryptionProviderType": "encryption",
    "block.FilesystemType": "filesystem",
    "block.VolumeType": "volumetype",
    "meta.ArgValue": "arg",
    "meta.URL": "url",
    "netip.Addr": "address",
    "netip.AddrPort": "addressport",
    "netip.Prefix": "prefix",
    "network.Addr": "address",
    "network.AddrPort": "addressport",
    "network.PortRange": "ports",
    "network.Prefix": "prefix",
    "nethelpers.ADLACPActive": "onoff",
    "nethelpers.ADSelect": "adselect",
    "nethelpers.ARPAllTargets": "arptargets",
    "nethelpers.ARPValidate": "arpvalidate",
    "nethelpers.AutoHostnameKind": "autohostname",
    "nethelpers.BondMode": "bondmode",
    "nethelpers.BondXmitHashPolicy": "xmithash",
    "nethelpers.ClientIdentifier": "clientid",
    "nethelpers.DefaultAction": "action",
    "nethelpers.FailOverMAC": "failovermac",
    "nethelpers.HardwareAddr": "mac",
    "nethelpers.LACPRate": "lacprate",
    "nethelpers.PrimaryReselect": "reselect",
    "nethelpers.Protocol": "protocol",
    "nethelpers.RoutingRuleAction": "ruleaction",
    "nethelpers.RoutingTable": "routingtable",
    "nethelpers.VLANProtocol": "vlanprotocol",
    "nethelpers.WOLMode": "wol",
    "v1alpha1.ArgValue": "arg",
    "v1alpha1.Base64Bytes": "base64",
    "v1alpha1.DiskSize": "disksize",
    "v1alpha1.Endpoint": "url",
    "v1alpha1.FileMode": "filemode",
    "v1alpha1.InstallDiskSizeMatcher": "diskcondition",
    "v1alpha1.InstallDiskType": "string",
    "v1alpha1.Unstructured": "any",
}
# Types of an older release that take less.
OLDER = {
    ("1.12", "block.ByteSize"): "oldbytes",
    ("1.12", "block.Size"): "oldsize",
    ("1.12", "block.VolumeType"): "oldvolumetype",
}
# Types that read their own YAML: their fields are not the struct's.
OWN = {
    "x509.PEMEncodedCertificateAndKey": {"crt": "base64!", "key": "base64!"},
    "x509.PEMEncodedCertificate": {"crt": "base64!"},
    "x509.PEMEncodedKey": {"key": "base64!"},
}
# Lists that merge in their own way: the key that says which item is the same; `=` where it is replaced.
MERGED = {
    "extensions.ConfigFileList": "@mountPath",
    "security.ImageVerificationRules": "@image=",
    "v1alpha1.AdmissionPluginConfigList": "@name",
    "v1alpha1.NetworkDeviceList": "@interface|deviceSelector",
    "v1alpha1.VlanList": "@vlanId",
}


class UnknownTypesError(Exception):
    """Go types that machinery/ does not know yet."""


class Table:
    """The table of one release, filled from the library's answer."""

    def __init__(self, minor: str, answer: dict[str, Any]) -> None:
        """Take the answer to a question about the structure."""
        self._minor = minor
        self._types = answer["types"]
        self._documents = {name: kind for kind, name in answer["kinds"].items()}
        self.structures: dict[str, dict[str, str]] = {}
        self.conflicts = {
            kind: sorted(found)
            for kind, name in sorted(answer["kinds"].items())
            if (found := self._types[name].get("conflicts"))
        }
        self.unknown: set[str] = set()
        for name in sorted(self._documents, key=lambda name: (self._documents[name] != "v1alpha1", name)):
            self._structure(name)

    def _name(self, go: str) -> str:
        if go in self._documents:
            kind = self._documents[go]
            return "V1Alpha1" if kind == "v1alpha1" else f"document {kind}"
        package, _, bare = go.partition(".")
        bare = bare.removesuffix("V1Alpha1")
        alike = [
            name for name in self._types if name.partition(".")[2].removesuffix("V1Alpha1") == bare and "*" not in name
        ]
        is_alone = len(alike) == 1 or package == "v1alpha1"
        return bare if is_alone and bare not in self._documents.values() else f"{package}.{bare}"

    def _structure(self, go: str) -> str:
        name = self._name(go)
        if name not in self.structures:
            self.structures[name] = {}
            self.structures[name] = dict(OWN[go]) if go in OWN else self._fields(go)
            for (minor, structure, key), notation in LATER.items():
                if (minor, structure) == (self._minor, name):
                    self.structures[name][key] = notation
        return name.removeprefix("document ")

    def _fields(self, go: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for field in self._types[go].get("fields", ()):
            options = field.get("options", ())
            if "inline" in options:
                found |= {} if field["key"] else self._fields(field["type"])
            elif field["key"] not in ("apiVersion", "kind"):  # which every document has
                notation = self._notation(field["type"])
                notation += "" if "omitempty" in options else "!"
                replaces = "replace" in field.get("merge", "") or field["type"].removeprefix("*") in OWN
                found[field["key"]] = notation + ("=" if replaces else "")
        return found

    def _notation(self, go: str) -> str:
        if scalar := OLDER.get((self._minor, go)) or SCALARS.get(go):
            return scalar
        shape = self._types[go]
        if shape["kind"] == "ptr":
            return f"{self._notation(shape['of'])}?"
        if "merge" in shape.get("does", ()) and go not in MERGED and shape["kind"] != "map":
            self.unknown.add(f"{go} (merges in its own way)")
        if shape["kind"] == "slice":
            return f"[{self._notation(shape['of'])}]{MERGED.get(go, '')}"
        if shape["kind"] == "map":
            # A map that merges in its own way takes a patch's values as they are.
            return f"{{{self._notation(shape['of'])}}}{'=' if 'merge' in shape.get('does', ()) else ''}"
        if shape["kind"] == "struct" and (go in OWN or not {"yaml", "text"} & set(shape.get("does", ()))):
            return self._structure(go)
        self.unknown.add(go)
        return "string"


def table(minor: str, kinds: Iterable[str]) -> dict[str, Any]:
    """Return the table of a minor release with some kinds of documents; raises UnknownTypesError for new types."""
    release = TABLES[minor]
    (answer,) = ask(release, [{"structure": sorted(kinds)}])
    made = Table(minor, answer)
    if made.unknown:
        raise UnknownTypesError(f"Talos {release} has types that are new here: {', '.join(sorted(made.unknown))}")
    return {"source": f"{MODULE} v{release}", "conflicts": made.conflicts, "structures": made.structures}


def kinds(release: str) -> set[str]:
    """Return every name in a release's sources that a kind of documents may have."""
    source = program(release).parent / "source"
    command = ["go", "list", "-m", "-mod=readonly", "-f", "{{.Dir}}", MODULE]
    folder = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True).stdout.strip()
    texts = [path.read_text() for path in Path(folder, "config", "types").rglob("*.go")]
    return {"v1alpha1"} | {kind for text in texts for kind in re.findall(r'\b\w+ += "([A-Z]\w+)"', text)}


def written(found: dict[str, Any]) -> str:
    """Return a table as it stands in its file: a field a line."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the tables that can be made."""
    for minor in TABLES:
        try:
            text = written(table(minor, kinds(TABLES[minor])))
        except UnknownTypesError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        (FOLDER / f"{minor}.json").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
