"""The schemas of the simulated part of the ``proxmoxve`` package, read from the installed SDK."""

import json
from importlib import resources

import pulumi_proxmoxve
from pulumi_proxmoxve import download
from pulumi_proxmoxve.hardware import mapping

from lab.standin.sdk import NestedSecrets, resource_schema

#: Fields inside objects that the provider's schema calls secret; the generated SDK does not carry these flags.
SECRETS: NestedSecrets = frozenset(
    {
        ("ProviderSsh", "password"),
        ("ProviderSsh", "privateKey"),
        ("ProviderSsh", "socks5Password"),
        ("VmLegacyInitializationUserAccount", "password"),
    }
)

VERSION: str = json.loads((resources.files(pulumi_proxmoxve) / "pulumi-plugin.json").read_text())["version"]
CONFIGURATION = resource_schema(pulumi_proxmoxve.Provider, pulumi_proxmoxve.ProviderArgs, SECRETS).inputs
VM = resource_schema(pulumi_proxmoxve.VmLegacy, pulumi_proxmoxve.VmLegacyArgs, SECRETS)
POOL = resource_schema(pulumi_proxmoxve.PoolLegacy, pulumi_proxmoxve.PoolLegacyArgs, SECRETS)
FILE = resource_schema(download.File, download.FileArgs, SECRETS)
FILE_LEGACY = resource_schema(download.FileLegacy, download.FileLegacyArgs, SECRETS)
PCI = resource_schema(mapping.Pci, mapping.PciArgs, SECRETS)
PCI_LEGACY = resource_schema(mapping.PciLegacy, mapping.PciLegacyArgs, SECRETS)
