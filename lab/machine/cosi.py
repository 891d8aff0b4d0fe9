"""The resource API (cosi.resource.State), reading half: enough for ``talosctl get`` and for watching."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping

from grpclib import GRPCError, Status

from lab.machine import releases
from lab.machine.dispatch import Call, Implementation
from lab.machine.resource import Item, Kind, singular
from lab.machine.resources import KINDS
from lab.machine.roles import ADMIN
from talosapi.gen import cosi_pb2
from talosapi.gen import resources_pb2 as specs

_POLL = 0.2  # real seconds between two looks of a watch
_DEFINITIONS = "ResourceDefinitions.meta.cosi.dev"


def _definitions(_: object) -> Iterator[Item]:
    for kind in (*KINDS, _META):
        short = kind.type.partition(".")[0]
        sensitivity = "sensitive" if kind.sensitive else "non-sensitive"
        names = sorted({*kind.names, *kind.aliases, kind.type.lower()})
        spec = specs.ResourceDefinitionSpec(
            resource_type=kind.type,
            display_type=singular(short),
            default_namespace=kind.namespace,
            aliases=kind.aliases,
            all_aliases=names,
            sensitivity=int(kind.sensitive),  # type: ignore[arg-type]
        )
        shown = {
            "type": kind.type,
            "displayType": spec.display_type,
            "aliases": names,
            "defaultNamespace": kind.namespace,
            "printColumns": [],
            "sensitivity": sensitivity if kind.sensitive else "",
        }
        yield Item(kind.type.lower(), spec.SerializeToString(), json.dumps(shown))


_META = Kind(_DEFINITIONS, "meta", ("rd",), _definitions)
_BY_TYPE: Mapping[str, Kind] = {kind.type: kind for kind in (*KINDS, _META)}


async def get(call: Call) -> cosi_pb2.GetResponse:
    """One resource; NotFound when there is none."""
    for resource in _resources(call):
        if resource.metadata.id == call.request.id:
            return cosi_pb2.GetResponse(resource=resource)
    raise GRPCError(Status.NOT_FOUND, f"resource {call.request.type}({call.request.id}) doesn't exist")


async def list_resources(call: Call) -> AsyncIterator[cosi_pb2.ListResponse]:
    """Every resource of a type."""
    for resource in _resources(call):
        yield cosi_pb2.ListResponse(resource=resource)


async def watch(call: Call) -> AsyncIterator[cosi_pb2.WatchResponse]:
    """What is there, then every change until the session ends."""
    request = call.request
    seen: dict[str, cosi_pb2.Resource] = {}
    first = True
    yield cosi_pb2.WatchResponse()  # says that the watch is set up
    while not call.session.ending.done():
        now = {r.metadata.id: r for r in _resources(call) if not request.HasField("id") or r.metadata.id == request.id}
        events = list(_changes(seen, now)) if not first or _shows_first(request) else []
        if first and request.HasField("id") and not now:
            missing = cosi_pb2.Metadata(namespace=request.namespace, type=request.type, id=request.id, phase="running")
            events.append(cosi_pb2.Event(event_type=cosi_pb2.DESTROYED, resource=cosi_pb2.Resource(metadata=missing)))
        if first and not request.HasField("id") and request.options.bootstrap_contents:
            events.append(cosi_pb2.Event(event_type=cosi_pb2.BOOTSTRAPPED))
        seen, first = now, False
        for event in events if not request.options.aggregated else ():
            yield cosi_pb2.WatchResponse(event=[event])
        if events and request.options.aggregated:
            yield cosi_pb2.WatchResponse(event=events)
        await asyncio.sleep(_POLL)


def _shows_first(request: cosi_pb2.WatchRequest) -> bool:
    return request.HasField("id") or request.options.bootstrap_contents


def _changes(before: Mapping[str, cosi_pb2.Resource], now: Mapping[str, cosi_pb2.Resource]) -> Iterator[cosi_pb2.Event]:
    for name, resource in now.items():
        if name not in before:
            yield cosi_pb2.Event(event_type=cosi_pb2.CREATED, resource=resource)
        elif before[name].metadata.version != resource.metadata.version:
            yield cosi_pb2.Event(event_type=cosi_pb2.UPDATED, resource=resource, old=before[name])
    for name in before.keys() - now.keys():
        yield cosi_pb2.Event(event_type=cosi_pb2.DESTROYED, resource=before[name])


def _resources(call: Call) -> Iterator[cosi_pb2.Resource]:
    kind = _BY_TYPE.get(call.request.type)
    if kind is None or kind.since > releases.minor(call.session.entry.version):
        raise GRPCError(Status.PERMISSION_DENIED, f'resource type "{call.request.type}" is not supported')
    if kind.sensitive and ADMIN not in call.roles:
        raise GRPCError(Status.PERMISSION_DENIED, "not authorized")
    if call.request.namespace != kind.namespace:
        return
    for item in kind.items(call.session):
        metadata = cosi_pb2.Metadata(
            namespace=kind.namespace,
            type=kind.type,
            id=item.id,
            version=str(call.session.versions.of(f"{kind.type}/{item.id}", item.proto)),
            phase="running",
            annotations={"talos.dev/yaml-spec": "1"} if kind.type.startswith("MachineConfigs") else {},
        )
        metadata.created.GetCurrentTime()
        metadata.updated.GetCurrentTime()
        yield cosi_pb2.Resource(metadata=metadata, spec=cosi_pb2.Spec(proto_spec=item.proto, yaml_spec=item.yaml))


COSI: Mapping[str, Implementation] = {
    "/cosi.resource.State/Get": get,
    "/cosi.resource.State/List": list_resources,
    "/cosi.resource.State/Watch": watch,
}
