"""The schemas of the simulated part of the ``talos`` package, read from the installed SDK."""

import json
from importlib import resources

import pulumiverse_talos
from pulumiverse_talos import client, cluster, imagefactory, machine

from lab.standin.sdk import NestedSecrets, function_schema, resource_schema

_WRITE_ONLY = ("BootstrapClientConfigurationWo", "ConfigurationApplyClientConfigurationWo")
#: Fields inside objects that the provider marks as secret; the generated SDK does not carry these flags.
SECRETS: NestedSecrets = frozenset(
    {
        ("ClientConfiguration", "clientKey"),
        ("GetConfigurationClientConfiguration", "clientKey"),
        ("KubeconfigClientConfiguration", "clientKey"),
        ("KubeconfigKubernetesClientConfiguration", "clientKey"),
        ("Certificate", "key"),
        ("Key", "key"),
        ("Cluster", "secret"),
        ("KubernetesSecrets", "bootstrapToken"),
        ("KubernetesSecrets", "secretboxEncryptionSecret"),
        ("KubernetesSecrets", "aescbcEncryptionSecret"),
        ("TrustdInfo", "token"),
        *((name, field) for name in _WRITE_ONLY for field in ("caCertificate", "clientCertificate", "clientKey")),
    }
)

VERSION: str = json.loads((resources.files(pulumiverse_talos) / "pulumi-plugin.json").read_text())["version"]
CONFIGURATION = resource_schema(pulumiverse_talos.Provider, pulumiverse_talos.ProviderArgs).inputs
MACHINE_SECRETS = resource_schema(machine.Secrets, machine.SecretsArgs, SECRETS)
CONFIGURATION_APPLY = resource_schema(machine.ConfigurationApply, machine.ConfigurationApplyArgs, SECRETS)
BOOTSTRAP = resource_schema(machine.Bootstrap, machine.BootstrapArgs, SECRETS)
KUBECONFIG = resource_schema(cluster.Kubeconfig, cluster.KubeconfigArgs, SECRETS)
SCHEMATIC = resource_schema(imagefactory.Schematic, imagefactory.SchematicArgs, SECRETS)
GET_CONFIGURATION = function_schema(machine.get_configuration, machine.GetConfigurationResult, SECRETS)
GET_CLIENT_CONFIGURATION = function_schema(client.get_configuration, client.GetConfigurationResult, SECRETS)
GET_URLS = function_schema(imagefactory.get_urls, imagefactory.GetUrlsResult, SECRETS)
