"""Whether the firewall of the stack file lets in the machine that the program runs on."""

import socket
from ipaddress import IPv4Address

from topology import Topology

_TALOS_API = 50000


def own_address(towards: IPv4Address) -> IPv4Address | None:
    """Return the address from which this machine would reach another; nothing is sent. None without a route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(towards), _TALOS_API))
            return IPv4Address(probe.getsockname()[0])
        except OSError:
            return None


def locked_out(topology: Topology) -> list[str]:
    """Return a warning for each address of this machine that the firewall keeps from the Talos API.

    Where an address is translated on the way, nodes see another one, so it is not refused.
    """
    if topology.firewall is None:
        return []
    allowed = (*topology.network.nodes, *topology.firewall.talos_api)
    found = {address: node for node in topology.controlplanes if (address := own_address(node.address)) is not None}
    return [
        f"firewall.talosApi: does not hold {address}, from which this machine reaches {node.name}: with the firewall it"
        " could change no node again; add its network, unless nodes see it under another address"
        for address, node in found.items()
        if not any(address in network for network in allowed)
    ]
