"""What Talos's machinery does: generate, patch, read and validate configurations, make a cluster's secrets."""

from machinery.clients import kubeconfig, kubeconfig_of, talosconfig
from machinery.configuration import Configuration, parse_configuration
from machinery.contract import Contract, contract_of
from machinery.errors import ConfigError
from machinery.generate import GenerateArgs, check_cluster_endpoint, generate_configuration, read_patches
from machinery.pki import client_certificate, generate_secrets
from machinery.secrets import Bundle, KeyPair, read_secrets_yaml
from machinery.validate import validate
