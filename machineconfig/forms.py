"""Texts of a machine's configuration that are no secret, wherever they come from: by their form, or by their place.

A form is here where nobody would have a secret of it: a number, an address, an image. A place is here where the
topology alone speaks, or where Talos and the kernel take a few words or names of devices. Places for free text are not,
such as labels, arguments, sysctls, environments and names of hosts.
"""

import re
from ipaddress import ip_interface

from machineconfig.paths import MAIN, Path

_FORMS = re.compile(
    r"""
    -?[0-9]{1,18}(\.[0-9]{1,9})?                               # a number
    | ([0-9]{1,9}\ ?(ns|us|ms|s|m|h|d|%|[kKMGTPE]i?B?|B))+     # a time, a size
    | 0[ox][0-9a-fA-F]{1,8}
    | true | false | on | off | yes | no | none | auto | enabled | disabled
    | [vV]?[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}(-(alpha|beta|rc)\.[0-9]{1,3})?
    | ([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}                       # a MAC address
    | [a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?(/[a-z0-9._-]+)+     # an image, with its tag or its digest
      (:[vV]?[0-9][\w.-]{0,40}|@sha256:[0-9a-f]{64}){1,2}
    | https?://[A-Za-z0-9.\[\]:-]+/?                           # an address without a path, a query or a user
    | /(dev|etc|opt|proc|run|sys|usr|var)/[\w./-]*
    """,
    re.VERBOSE,
)
_PLACES = frozenset(
    (title, tuple(path.split(".")))
    for title, paths in {
        MAIN: """machine.type machine.install.disk
            machine.install.diskSelector.busPath machine.install.diskSelector.type
            machine.network.hostname machine.network.interfaces.*.interface
            machine.network.interfaces.*.bond.interfaces.* machine.network.interfaces.*.bond.mode
            machine.network.interfaces.*.bond.lacpRate machine.network.interfaces.*.bond.xmitHashPolicy
            machine.network.interfaces.*.bond.primary machine.network.interfaces.*.deviceSelector.busPath
            machine.network.interfaces.*.deviceSelector.driver cluster.clusterName cluster.controlPlane.endpoint
            cluster.network.dnsDomain cluster.network.cni.name cluster.proxy.mode""",
        "HostnameConfig": "hostname auto",
    }.items()
    for path in paths.split()
)
_OF_EVERY_DOCUMENT = frozenset((each,) for each in ("apiVersion", "kind", "name"))


def is_harmless(title: str, path: Path, text: str) -> bool:
    """Whether a text is known to be no secret; list entries in `path` are `*`."""
    if (title, path) in _PLACES or (title != MAIN and path in _OF_EVERY_DOCUMENT):
        return True
    return bool(_FORMS.fullmatch(text)) or _is_address(text)


def _is_address(text: str) -> bool:
    """Tell an address, a network, an address and a port, and a network that is left out with `!`."""
    address, colon, port = text.removeprefix("!").rpartition(":")
    if not (colon and port.isdigit() and "." in address):
        address = text.removeprefix("!")
    try:
        return bool(ip_interface(address.strip("[]")))
    except ValueError:
        return False
