"""The bootstrap of etcd, made safe to repeat.

The provider calls Bootstrap until it succeeds, also on a cluster that was bootstrapped by a run that died before it
could record that. The relay is between the provider and the machine for this one call: docs/adr/0003.
"""

import datetime
import ssl
from ipaddress import IPv4Address

import pulumi
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID
from grpclib.const import Cardinality, Handler
from grpclib.exceptions import GRPCError
from grpclib.server import Server, Stream

from talosapi import Client, Code, Credentials, CredentialsError, NotReady, TalosError, etcd, tls
from talosapi.authority import Authority
from talosapi.conditions import Unmet
from talosapi.gen.machine_pb2 import Bootstrap, BootstrapRequest, BootstrapResponse
from talosapi.waiting import Patience, joined, until_met
from topology import Topology

_LOOPBACK = "127.0.0.1"
_NOT_YET = frozenset({Code.FAILED_PRECONDITION, Code.UNAVAILABLE, Code.UNAUTHENTICATED, Code.DEADLINE_EXCEEDED})


class BootstrapRelay:
    """Serves ``machine.MachineService/Bootstrap`` to the provider on the loopback of this process, under mutual TLS.

    It passes the call on to the bootstrap node. An etcd that already exists on any control plane is success. A control
    plane that does not say whether it has one is an error: a bootstrap beside it could split the cluster.
    """

    def __init__(
        self, topology: Topology, credentials: pulumi.Output[Credentials], authority: pulumi.Output[Authority]
    ) -> None:
        """Serve nothing yet; ``authority`` signs the relay's own certificate, which lives as long as the run."""
        self._topology = topology
        self._credentials = credentials
        self._authority = authority
        self._patience = Patience(timeout=topology.rollout.timeout, report=pulumi.log.info)

    def endpoint(self) -> pulumi.Output[str | None]:
        """Return where the provider reaches the relay; None at preview, where nothing is served."""
        return pulumi.Output.from_input(self._serve())

    async def _serve(self) -> str | None:
        if pulumi.runtime.is_dry_run():
            return None
        authority = await self._authority.future()
        assert authority is not None  # noqa: S101 - known in an update, like every output of the secrets
        self._server = Server([self])
        await self._server.start(_LOOPBACK, 0, ssl=_server_context(authority))
        port = self._server._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        return f"{_LOOPBACK}:{port}"

    def __mapping__(self) -> dict[str, Handler]:
        """List the one call that is served; grpclib asks for it."""
        handler = Handler(self._answer, Cardinality.UNARY_UNARY, BootstrapRequest, BootstrapResponse)
        return {"/machine.MachineService/Bootstrap": handler}

    async def _answer(self, stream: Stream[BootstrapRequest, BootstrapResponse]) -> None:
        await stream.recv_message()
        try:
            await self._bootstrap()
        except (NotReady, TalosError, CredentialsError) as error:
            # The provider retries every other code until its time is up.
            raise GRPCError(Code.INVALID_ARGUMENT, str(error)) from None
        await stream.send_message(BootstrapResponse(messages=[Bootstrap()]))

    async def _bootstrap(self) -> None:
        credentials = await self._credentials.future()
        assert credentials is not None  # noqa: S101 - known in an update
        planes, node = self._topology.controlplanes, self._topology.bootstrap
        found = await etcd.existence(planes, credentials, patience=self._patience)
        if found.where:
            pulumi.log.info(f"etcd already exists on {found.where.name}: its bootstrap is recorded, not repeated")
            return
        if found.unknown:
            raise joined(found.unknown)
        async with Client(str(node.address), credentials, name=node.name) as client:
            await until_met(node, lambda: _attempt(client), self._patience)


async def _attempt(client: Client) -> Unmet | None:
    try:
        await client.bootstrap()
    except TalosError as error:
        if error.code in _NOT_YET:
            return Unmet(error.message, error.cure, "it to be ready for the bootstrap of etcd")
        if error.code is not Code.ALREADY_EXISTS:
            raise
    return None


def _server_context(authority: Authority) -> ssl.SSLContext:
    key = ed25519.Ed25519PrivateKey.generate()
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([]))
        .issuer_name(authority.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=6))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address(_LOOPBACK))]), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(authority.key, None)
    )
    pem = serialization.Encoding.PEM
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])
    tls.trust(context, authority.certificate.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    tls.load_identity(context, certificate.public_bytes(pem), private)
    return context
