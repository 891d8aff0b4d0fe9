"""Registries: where their mirrors answer, and which host a credential is sent to."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from findings import Finding
from machineconfig.checks.configuration import Final
from machineconfig.paths import Path, all_at

_MIRRORS = ("machine", "registries", "mirrors", "*")
_REST = "*"
"""The mirrors of every registry that has none of its own."""
_DOCKER = frozenset(("docker.io", "index.docker.io", "registry-1.docker.io"))


def sends_its_credentials_somewhere(final: Final) -> Iterator[Finding]:
    """A credential is for a host that images are pulled from, which a registry behind mirrors is not."""
    mirrors = dict(_mirrors(final))
    for name, title, path in _credentials(final):
        hosts = mirrors.get(name, mirrors.get(_REST, {}))
        others = [host for host in hosts if host != name and not {host, name} <= _DOCKER]
        if hosts and len(others) == len(hosts):
            place = final.place_of(hosts[others[0]][1], hosts[others[0]][0])
            message = f"the credential of {name} is sent to none of its mirrors ({', '.join(others)}, {place})"
            cure = f"put it under the name of the mirror, {others[0]}"
            yield final.finding(message, cure, title=title, path=path)


def has_paths_where_nothing_is_added(final: Final) -> Iterator[Finding]:
    """With overridePath, containerd adds /v2 to no mirror of a registry, so every one of them has it in its URL."""
    for title, path, url in final.all_at(*_MIRRORS, "endpoints", "*"):
        above = path[:-2]
        if final.find(*map(str, above), "overridePath") and not _path(url):
            place = final.place_of((*above, "overridePath"))
            message = f"the mirror {_host(url)} of {above[-1]} has no path, and by overridePath ({place}) none is added"
            yield final.finding(message, "end its URL with /v2", title=title, path=path)


def _mirrors(final: Final) -> Iterator[tuple[str, Mapping[str, tuple[str, Path]]]]:
    """The hosts of each registry's mirrors, with the document and path that name them."""
    for title, path, mirror in final.all_at(*_MIRRORS):
        yield str(path[-1]), {_host(url): (title, (*path, *at)) for at, url in all_at(mirror, "endpoints", "*")}
    for document in final.configuration.of_kind("RegistryMirrorConfig"):
        urls = all_at(document.values, "endpoints", "*", "url")
        yield document.name, {_host(url): (document.title, path) for path, url in urls}


def _credentials(final: Final) -> Iterator[tuple[str, str, Path]]:
    """The registries with a credential, each with the document and path of it."""
    for title, path, auth in final.all_at("machine", "registries", "config", "*", "auth"):
        if auth:
            yield str(path[-2]), title, path
    for document in final.configuration.of_kind("RegistryAuthConfig"):
        yield document.name, document.title, ("name",)


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:  # the validation says it
        return ""


def _path(url: str) -> str:
    try:
        return urlsplit(url).path.strip("/")
    except ValueError:  # the validation says it
        return url
