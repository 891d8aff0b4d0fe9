"""Generating a machine configuration as the Talos provider does: base documents for a contract, then the patches."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from machinery.base import base_documents
from machinery.contract import PROVIDER, Contract, contract_of
from machinery.documents import Document, write_documents
from machinery.errors import ConfigError
from machinery.patches import Patch, apply_patches, read_patch
from machinery.secrets import Bundle
from machinery.urls import go_url

MACHINE_TYPES = ("controlplane", "worker")


@dataclass(frozen=True)
class GenerateArgs:
    """The arguments of the provider's getConfiguration.

    `docs` and `examples` add comments to the real text; here they add none. `lenient` is none of its own: it leaves
    out keys of patches that Talos does not know and values of the wrong type, for a look at all the rest.
    """

    cluster_name: str
    cluster_endpoint: str
    machine_type: str
    machine_secrets: Bundle
    talos_version: str = "v1.13"
    kubernetes_version: str = "1.36.0"
    patches: Sequence[str] = field(default=(), repr=False)
    docs: bool = False
    examples: bool = False
    lenient: bool = False


def generate_configuration(args: GenerateArgs) -> str:
    """Return the machine configuration as YAML; raise ConfigError for what the provider refuses.

    Like the provider it does not validate the result: see machinery.validate.
    """
    if args.machine_type not in MACHINE_TYPES:
        raise ConfigError(f'machine_type "{args.machine_type}" must be controlplane or worker')
    if not args.cluster_name:
        raise ConfigError("cluster_name must not be empty")
    if not contract_of(args.talos_version).after(7):
        raise ConfigError(f"contract {contract_of(args.talos_version)} is older than v1.8, the oldest known here")
    check_cluster_endpoint(args.cluster_endpoint)
    patches = read_patches(args.patches, lenient=args.lenient)
    try:
        documents = apply_patches(base_of(args), patches, PROVIDER)
        return write_documents(documents, PROVIDER)
    except ConfigError as error:
        raise error.under(f"the {args.machine_type} configuration cannot be made") from None


def read_patches(patches: Sequence[str], *, lenient: bool = False) -> list[Patch]:
    """Return the patches of config_patches; raise ConfigError saying which one is wrong."""
    result = []
    for index, text in enumerate(patches):
        try:
            result.append(read_patch(text, PROVIDER, lenient=lenient))
        except ConfigError as error:
            raise error.under(f"config_patches[{index}]") from None
    return result


def check_cluster_endpoint(endpoint: str) -> None:
    """Raise ConfigError for a cluster_endpoint that the provider refuses: it must be an https URL with a host."""
    what = "cluster_endpoint is invalid"
    try:
        url = go_url(endpoint)
    except ValueError as error:
        if "/" in endpoint:
            raise ConfigError(f"{what}: it must be {error}") from None
        raise ConfigError(f"{what}: it has no scheme: write https://{endpoint}") from None
    if not url.scheme:
        raise ConfigError(f"{what}: it has no scheme: write https://{endpoint}")
    if url.scheme != "https":
        raise ConfigError(f"{what}: its scheme must be https, not {url.scheme}")
    if problem := host_problem(endpoint):
        raise ConfigError(f"{what}: {problem}")


def host_problem(endpoint: str) -> str:
    """Return what is wrong with the host or port of a URL, or nothing."""
    try:
        url = go_url(endpoint)
    except ValueError as error:
        return f"it must be {error}"
    if url.host.count(":") > 2 and not ("[" in url.host and "]" in url.host):
        return "an IPv6 address in it must stand in brackets"
    if not url.hostname:
        return "it has no host"
    if url.port and not 1 <= int(url.port) <= 65535:
        return "its port must be from 1 to 65535"
    return ""


def base_of(args: GenerateArgs) -> list[Document]:
    """Return the documents before any patch, for the caller to change."""
    contract = contract_of(args.talos_version)
    kubernetes = args.kubernetes_version.removeprefix("v")
    key = (args.machine_type, args.cluster_name, args.cluster_endpoint, kubernetes)
    return [document.copy() for document in _cached_base(*key, args.machine_secrets, contract)]


@lru_cache(maxsize=64)
def _cached_base(
    machine_type: str, cluster_name: str, endpoint: str, kubernetes: str, bundle: Bundle, contract: Contract
) -> list[Document]:
    return base_documents(machine_type, cluster_name, endpoint, kubernetes, bundle, contract)
