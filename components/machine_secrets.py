"""The machine secrets of a cluster."""

import base64
import os
from dataclasses import dataclass
from functools import partial

import pulumi
import pulumiverse_talos as talos
from pulumiverse_talos import machine

from machineconfig.secrets_file import SecretsFile
from talosapi import Credentials
from talosapi.authority import Authority

IN_MEMORY = hasattr(os, "memfd_create")
"""Whether this system has files that end with the process: what is secret goes into no other."""


@dataclass(frozen=True)
class MachineSecretsArgs:
    """``contract`` is the Talos version contract at creation ("v1.13"); ``import_from`` the secrets.yaml to import."""

    contract: str
    import_from: SecretsFile | None
    provider: talos.Provider


class MachineSecrets(pulumi.ComponentResource):
    """Owns the one secrets bundle of a cluster: generated once or imported, protected from destroy, never replaced.

    What is on record stays, whatever the stack file says later: an older version contract, for which the provider plans
    a replacement, is ignored, and so is another file to import, for which the engine does (docs/adr/0006).
    """

    bundle: pulumi.Output[machine.MachineSecretsArgs]
    """What ``getConfiguration`` takes."""
    client_configuration: machine.ClientConfigurationArgsDict
    """The os:admin identity, for the resources that talk to a machine."""
    credentials: pulumi.Output[Credentials]
    """The same identity, for the machine API."""
    authority: pulumi.Output[Authority]
    """The CA of the machines' own certificates."""

    def __init__(self, name: str, args: MachineSecretsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create or import the bundle."""
        super().__init__("talos-stacks:index:MachineSecrets", name, None, opts)
        import_from = _path(args.import_from) if args.import_from else None
        secrets = machine.Secrets(
            name,
            talos_version=args.contract,
            opts=pulumi.ResourceOptions(
                parent=self,
                provider=args.provider,
                protect=True,
                import_=import_from,
                ignore_changes=["talosVersion"],
                state_migrations=[partial(_keep, import_from)],
            ),
        )
        client = secrets.client_configuration
        self.bundle = pulumi.Output.secret(secrets.machine_secrets.apply(_bundle))
        self.client_configuration = {
            "ca_certificate": client.ca_certificate,
            "client_certificate": client.client_certificate,
            "client_key": pulumi.Output.secret(client.client_key),
        }
        self.credentials = pulumi.Output.secret(client.apply(_credentials))
        self.authority = pulumi.Output.secret(secrets.machine_secrets.apply(_authority))
        self.register_outputs({})


def _path(file: SecretsFile) -> str:
    """Return where the provider reads the file; what had to be converted is in this process's memory alone."""
    if not file.converted:
        return str(file.path)
    descriptor = os.memfd_create(file.path.name)
    with os.fdopen(descriptor, "w", closefd=False) as memory:
        memory.write(file.converted)
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def _keep(import_from: str | None, args: pulumi.StateMigrationArgs) -> pulumi.StateMigrationResult | None:
    """Let the engine find the recorded secrets imported from the file that the stack names now, so it imports nothing.

    The callback sees the secrets in clear; it passes them on and looks at nothing but the import id.
    """
    recorded, *rest = args.old_state
    if import_from is None or recorded.get("importID") == import_from:
        return None
    return pulumi.StateMigrationResult([{**recorded, "importID": import_from}, *rest])


def _bundle(secrets: machine.outputs.MachineSecretsResult) -> machine.MachineSecretsArgs:
    # The plugin does not translate the nested keys of its own output, so each field is named here.
    certs = secrets.certs
    return machine.MachineSecretsArgs(
        cluster=machine.ClusterArgs(id=secrets.cluster.id, secret=secrets.cluster.secret),
        secrets=machine.KubernetesSecretsArgs(
            bootstrap_token=secrets.secrets.bootstrap_token,
            secretbox_encryption_secret=secrets.secrets.secretbox_encryption_secret,
            aescbc_encryption_secret=secrets.secrets.aescbc_encryption_secret,
        ),
        trustdinfo=machine.TrustdInfoArgs(token=secrets.trustdinfo.token),
        certs=machine.CertificatesArgs(
            etcd=_certificate(certs.etcd),
            k8s=_certificate(certs.k8s),
            k8s_aggregator=_certificate(certs.k8s_aggregator),
            k8s_serviceaccount=machine.KeyArgs(key=certs.k8s_serviceaccount.key),
            os=_certificate(certs.os),
        ),
    )


def _certificate(certificate: machine.outputs.CertificateResult) -> machine.CertificateArgs:
    return machine.CertificateArgs(cert=certificate.cert, key=certificate.key)


def _credentials(client: machine.outputs.ClientConfiguration) -> Credentials:
    decoded = (client.ca_certificate, client.client_certificate, client.client_key)
    return Credentials(*(base64.b64decode(pem) for pem in decoded))


def _authority(secrets: machine.outputs.MachineSecretsResult) -> Authority:
    return Authority.of(base64.b64decode(secrets.certs.os.cert), base64.b64decode(secrets.certs.os.key))
