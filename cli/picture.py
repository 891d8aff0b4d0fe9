"""A picture of a topology: its zones, machines and roles, and how the Kubernetes API is reached. Pure text."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from topology import ROLES, Node, Topology
from topology.quorum import Loss

CROWD = 16
"""Machines of one role in one zone; more than these are one box, or nobody could read the picture."""
_STYLES = (
    "classDef controlplane fill:#dbeafe,stroke:#1d4ed8,color:#111827",
    "classDef worker fill:#f3f4f6,stroke:#6b7280,color:#111827",
    "classDef api fill:#fef3c7,stroke:#b45309,color:#111827",
)


@dataclass(frozen=True)
class Entry:
    """How clients reach the Kubernetes API: ``by`` is VIP, load balancer, name or control plane."""

    url: str
    by: str
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A zone, or the cluster where it has none (without a name), with its machines in the order of the file."""

    name: str
    networks: tuple[str, ...]
    nodes: tuple[Node, ...]
    losses: tuple[tuple[str, Loss], ...]
    """What the loss of it leaves of etcd and of the storage cluster, by whose votes they are."""

    def of(self, role: str) -> tuple[Node, ...]:
        """Return the machines of a role."""
        return tuple(node for node in self.nodes if node.role == role)


@dataclass(frozen=True)
class Picture:
    """What is drawn of one topology."""

    topology: Topology
    entry: Entry
    places: tuple[Place, ...]

    @property
    def title(self) -> str:
        """The cluster in one line."""
        versions = self.topology.versions
        return f"{self.topology.name}: Talos {versions.talos}, Kubernetes {versions.kubernetes}, {self._kind}"

    @property
    def _kind(self) -> str:
        return self.topology.platform.kind

    def mermaid(self) -> str:
        """Return a Mermaid flowchart, which Git hosts render."""
        boxes = [_boxes(place, number) for number, place in enumerate(self.places)]
        planes = [box.split("[", 1)[0] for inner in boxes for box in inner if box.endswith(":::controlplane")]
        lines = ["flowchart TB", *_front(self.entry, planes)]
        for number, (place, inner) in enumerate(zip(self.places, boxes, strict=True)):
            keeps = [f"without it {loss.left} of {loss.total} {votes} stay" for votes, loss in place.losses]
            label = _label(place.name or self.topology.name, ", ".join(place.networks), *keeps)
            lines += [f"    subgraph zone{number}[{label}]", *(f"        {box}" for box in inner), "    end"]
        return "\n".join([*lines, *(f"    {style}" for style in _STYLES)]) + "\n"

    def text(self) -> str:
        """Return a table."""
        entry = f"API {self.entry.url}, {_words(self.entry)}"
        head = ("zone", "node", "role", "address", "image")
        rows = [
            (place.name or "-", node.name, node.role, str(node.address), node.image)
            for place in self.places
            for node in place.nodes
        ]
        losses = [f"{place.name} {loss.words(votes)}" for place in self.places for votes, loss in place.losses]
        return "\n".join([self.title, entry, "", *_table([head, *rows]), *([""] if losses else []), *losses]) + "\n"

    def value(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        versions = self.topology.versions
        return {
            "name": self.topology.name,
            "platform": self._kind,
            "versions": {"talos": str(versions.talos), "kubernetes": str(versions.kubernetes)},
            "endpoint": asdict(self.entry),
            "zones": [_zone_value(place) for place in self.places],
        }


def picture(topology: Topology) -> Picture:
    """Return what is drawn of a topology."""
    votes = (("control planes", topology.losses), ("storage zones", topology.storage_losses))
    places = [
        Place(
            name,
            (str(zone.network),) if zone.network else (),
            topology.nodes_in(name),
            tuple((whose, loss) for whose, losses in votes for loss in losses if loss.zone == name),
        )
        for name, zone in topology.zones.items()
    ]
    rest = tuple(node for node in topology.nodes if node.zone not in topology.zones)
    if rest:
        places.append(Place("", tuple(map(str, topology.network.nodes)), rest, ()))
    return Picture(topology, _entry(topology), tuple(places))


def _entry(topology: Topology) -> Entry:
    endpoint, vip = topology.endpoint, topology.network.vip
    balancers = tuple(map(str, topology.api_server.load_balancers))
    planes = tuple(str(node.address) for node in topology.controlplanes)
    if balancers:
        return Entry(endpoint.url, "load balancer", balancers)
    if vip is not None and endpoint.address in (vip, None):
        return Entry(endpoint.url, "VIP", (str(vip),))
    if endpoint.host in planes:
        return Entry(endpoint.url, "control plane", (endpoint.host,))
    return Entry(endpoint.url, "name" if endpoint.address is None else "load balancer", ())


def _words(entry: Entry) -> str:
    addresses = ", ".join(entry.addresses)
    return {
        "VIP": f"the VIP {addresses}, which one control plane holds",
        "load balancer": f"a load balancer{f' at {addresses}' if addresses else ''} in front of the control planes",
        "name": "a name that leads to the control planes",
        "control plane": "the control plane itself",
    }[entry.by]


def _front(entry: Entry, planes: Sequence[str]) -> Iterator[str]:
    """Yield the API's address and the way from there to the control planes."""
    yield f"    api([{_label(entry.url)}]):::api"
    origin = "api"
    if entry.by in ("VIP", "load balancer"):
        yield f"    entry{{{{{_label(entry.by, *entry.addresses)}}}}}:::api"
        yield "    api --> entry"
        origin = "entry"
    arrow = "-.->" if entry.by == "VIP" else "-->"
    yield from (f"    {origin} {arrow} {plane}" for plane in planes)


def _boxes(place: Place, number: int) -> list[str]:
    boxes = []
    for role in ROLES.values():
        nodes, style = place.of(role.name), role.machine_type
        if len(nodes) > CROWD:
            label = _label(f"{len(nodes)} {role.many}", f"{nodes[0].name} to {nodes[-1].name}")
            boxes.append(f"{role.name}{number}[{label}]:::{style}")
        else:
            boxes += [
                f"{role.name}{number}x{index}[{_label(node.name, str(node.address), *_image(node))}]:::{style}"
                for index, node in enumerate(nodes)
            ]
    return boxes


def _image(node: Node) -> list[str]:
    return [f"image {node.image}"] if node.image != "default" else []


def _label(*lines: str) -> str:
    """Return lines as a label: in quotes, with what Mermaid would read as something else written as entities."""
    text = "<br/>".join(line.replace("#", "#35;").replace('"', "#quot;").replace("<", "#lt;") for line in lines if line)
    return f'"{text}"'


def _zone_value(place: Place) -> dict[str, Any]:
    nodes = [
        {"name": node.name, "role": node.role, "address": str(node.address), "image": node.image}
        for node in place.nodes
    ]
    losses = {votes: asdict(loss) | {"left": loss.left, "majority": loss.majority} for votes, loss in place.losses}
    return {"name": place.name or None, "networks": place.networks, "losses": losses, "nodes": nodes}


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
