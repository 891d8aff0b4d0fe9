"""What Talos's machinery does: generate, patch, read and validate configurations, make a cluster's secrets."""

from lab.talos.clients import kubeconfig, kubeconfig_of, talosconfig
from lab.talos.configuration import Configuration, parse_configuration
from lab.talos.contract import Contract, contract_of
from lab.talos.errors import ConfigError
from lab.talos.generate import GenerateArgs, check_cluster_endpoint, generate_configuration, read_patches
from lab.talos.pki import client_certificate, generate_secrets
from lab.talos.secrets import Bundle, KeyPair, read_secrets_yaml
from lab.talos.validate import validate

__all__ = [
    "Bundle",
    "ConfigError",
    "Configuration",
    "Contract",
    "GenerateArgs",
    "KeyPair",
    "check_cluster_endpoint",
    "client_certificate",
    "contract_of",
    "generate_configuration",
    "generate_secrets",
    "kubeconfig",
    "kubeconfig_of",
    "parse_configuration",
    "read_patches",
    "read_secrets_yaml",
    "talosconfig",
    "validate",
]
