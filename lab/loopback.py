"""The one interface of a sealed network, set up with the kernel's own calls (netlink and ioctl)."""

import os
import socket
import struct

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
RTM_NEWROUTE, NLM_F_CREATE_WITH_ACK = 24, 0x1 | 0x4 | 0x400
RT_TABLE_LOCAL, RTPROT_STATIC, RT_SCOPE_HOST, RTN_LOCAL, RTA_OIF = 255, 4, 254, 2, 4


def answers(address: str, port: int = 0) -> bool:
    """Tell whether something here can listen at ``address``, at this port or at any."""
    try:
        with socket.create_server((address, port)):
            return True
    except OSError:
        return False


def up() -> None:
    """Bring ``lo`` up."""
    import fcntl  # not on Windows

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        answer = fcntl.ioctl(control, SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack("16sh14x", answer)[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def every_address_is_local() -> None:
    """Do what ``ip route add local 0.0.0.0/0 dev lo`` does: any address can be listened on and reached."""
    route = struct.pack("8BI", socket.AF_INET, 0, 0, 0, RT_TABLE_LOCAL, RTPROT_STATIC, RT_SCOPE_HOST, RTN_LOCAL, 0)
    body = route + struct.pack("HHI", 8, RTA_OIF, socket.if_nametoindex("lo"))
    header = struct.pack("IHHII", 16 + len(body), RTM_NEWROUTE, NLM_F_CREATE_WITH_ACK, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.send(header + body)
        (code,) = struct.unpack("i", netlink.recv(4096)[16:20])
    if code:
        raise OSError(-code, os.strerror(-code), "route")
