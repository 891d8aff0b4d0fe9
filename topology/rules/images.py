"""Images and what is built into them."""

from collections.abc import Iterator

from findings import NOTHING, Finding, near
from topology.compatibility import SUPPORT
from topology.extensions import EXTENSIONS
from topology.topology import DEFAULT_IMAGE, Topology


def images_are_declared(topology: Topology) -> Iterator[Finding]:
    """A node's image is one of ``images``."""
    for index, node in enumerate(topology.nodes):
        if node.image not in topology.images:
            cure = f"declare it in images{near(node.image, topology.images)}, or leave it out for default"
            yield Finding.at(("nodes", index, "image"), node.image, f"of {node.name} is not a declared image", cure)


def images_are_used(topology: Topology) -> Iterator[Finding]:
    """An image that no node has is one whose node was renamed or removed, or names another one."""
    used = {node.image for node in topology.nodes}
    for image in topology.images:
        if image not in used and image != DEFAULT_IMAGE:
            yield Finding.at(
                ("images", image), NOTHING, "is an image that no node uses", "use it in a node or take it out"
            )


def extensions_exist(topology: Topology) -> Iterator[Finding]:
    """An extension is one that Sidero Labs publishes for this Talos: the factory would say so only in the run."""
    talos = topology.versions.talos
    if talos.contract not in SUPPORT:
        return
    known = {name for name, since in EXTENSIONS.items() if since <= talos.minor}
    for image, settings in topology.images.items():
        for name in settings.extensions:
            since = EXTENSIONS.get(name)
            if since is None:
                cure = f"correct it{near(name, known)}, or add a new one to topology/extensions.py"
                yield Finding.at(("images", image, "extensions"), name, "is not a known system extension", cure)
            elif since > talos.minor:
                cure = f"leave it out or run Talos v1.{since}.0 or newer"
                yield Finding.at(("images", image, "extensions"), name, f"is not made for Talos {talos}", cure)
