"""The certificates of the machine API: self-signed in maintenance mode, then from the configuration's authority."""

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.machine import durations
from lab.machine.pki import CLIENT, SERVER, Pair, client_context, self_signed, server_context
from lab.machine.roles import IMPERSONATOR

if TYPE_CHECKING:
    from lab.machine.session import Session


@dataclass(frozen=True)
class Identity:
    """How the API shows itself, and how it calls other machines: not at all from a worker."""

    server: ssl.SSLContext
    client: ssl.SSLContext | None = None


def maintenance_identity(session: "Session") -> Identity:
    """Nobody vouches for it and nobody is asked for a certificate."""
    pair = self_signed("maintenance-service.talos.dev", (session.hostname, session.address))
    return Identity(server_context(pair, h2=True))


async def identify(session: "Session") -> Identity:
    """The identity of a configured machine; a worker waits until a control plane signs for it, as trustd does."""
    settings = session.settings
    if settings.is_control_plane:
        pair = _sign(session, session)
        own = settings.os_ca.issue(session.hostname, [CLIENT], organizations=[IMPERSONATOR])
        return Identity(_server(session, pair), client_context(settings.os_ca.crt, own, h2=True))
    while (signed := _ask_trustd(session)) is None:
        await session.machine.world.clock.sleep(durations.RETRY, at_least=0.1)
    return Identity(_server(session, signed))


def _ask_trustd(session: "Session") -> Pair | None:
    for peer in session.machine.world.control_planes(session.settings):
        signer = peer.session
        if signer and signer.settings.token == session.settings.token and not peer.fault("refuse"):
            return _sign(session, signer)
    return None


def _sign(session: "Session", signer: "Session") -> Pair:
    hosts = (session.hostname, session.address, "127.0.0.1", "localhost", *session.settings.cert_sans)
    skew = session.machine.fault_value("clock-skew", "seconds")
    return signer.settings.os_ca.issue(session.hostname, [SERVER], hosts=tuple(dict.fromkeys(hosts)), skew=skew)


def _server(session: "Session", pair: Pair) -> ssl.SSLContext:
    return server_context(pair, session.settings.accepted_cas, required=True, h2=True)
