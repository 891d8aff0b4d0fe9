"""Registry mirrors: where they come from, and what containerd makes of their URLs."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from findings import Finding
from topology.site import path_of
from topology.topology import Topology


def mirrors_come_from_a_zone_that_has_some(topology: Topology) -> Iterator[Finding]:
    """A zone without registries names another one that has them."""
    with_some = [name for name, zone in topology.zones.items() if zone.registry_mirrors]
    for name, zone in topology.zones.items():
        source = zone.registry_mirrors_of
        if source is None:
            continue
        if zone.registry_mirrors:
            message = f"of {name} is given, and registryMirrors as well"
            yield Finding.at(("zones", name, "registryMirrorsOf"), source, message, "leave one of them out")
        elif source not in with_some:
            cure = f"name {' or '.join(with_some)}" if with_some else "leave it out"
            yield Finding.at(("zones", name, "registryMirrorsOf"), source, "is not a zone with registryMirrors", cure)


def mirrors_of_a_registry_have_paths_or_none(topology: Topology) -> Iterator[Finding]:
    """Talos says once for all mirrors of a registry whether containerd adds /v2 to their URLs."""
    for loc, site in topology.sites:
        for registry in site.registries_with_paths:
            mirrors = site.registry_mirrors[registry]
            whole = next(filter(path_of, mirrors))
            for index, mirror in enumerate(mirrors):
                if not path_of(mirror):
                    message = (
                        f"has no path, and {whole} has one: containerd takes all mirrors of a registry as they are"
                    )
                    cure = f"write https://{urlsplit(mirror).netloc}/v2"
                    yield Finding.at((*loc, "registryMirrors", registry, index), mirror, message, cure)


def mirrors_with_a_path_have_the_registry_in_it(topology: Topology) -> Iterator[Finding]:
    """A registry answers below /v2, and nothing is added to a URL with a path."""
    for loc, site in topology.sites:
        for registry, mirrors in site.registry_mirrors.items():
            for index, mirror in enumerate(mirrors):
                if (path := path_of(mirror)) and "v2" not in path.split("/"):
                    host = urlsplit(mirror).netloc
                    message = "has a path without /v2, and containerd adds none to it"
                    cure = f"write https://{host}{path}/v2 or https://{host}/v2{path}, as the mirror's manual has it"
                    yield Finding.at((*loc, "registryMirrors", registry, index), mirror, message, cure)
