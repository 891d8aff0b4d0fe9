"""The final configuration of one node, made of its patches and placeholders, for checks that look at the whole."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from findings import Finding, Place
from machineconfig.generation import arguments
from machineconfig.model import Patch, in_patches
from machineconfig.origins import Origins, origins
from machineconfig.paths import MAIN, Path, all_at, leaves, value_at
from machineconfig.placeholder import holds_placeholder, placeholder_bundle, put_in
from machinery import (
    Bundle,
    ConfigError,
    Configuration,
    KeyPair,
    generate_configuration,
    parse_configuration,
    read_patches,
    validate,
)
from machinery.contract import PROVIDER
from machinery.problems import Problem
from topology import Node, Topology
from topology.platforms import PLATFORMS

_RSA_KEY = 3243
"""Characters of the longest private key in a configuration, one of RSA with 4096 bits as PEM."""
_GUESSES = ("", "1", "true", "192.0.2.1", "192.0.2.0/24", "https://192.0.2.1", "1s", "1GiB")
"""What can stand for a secret where Talos wants a text of some form; nothing where the placeholder will do."""


@dataclass(frozen=True)
class Final:
    """A node's final configuration; `configuration` is how the node's release of Talos reads `text`."""

    topology: Topology
    node: Node
    patches: Sequence[Patch] = field(repr=False)
    text: str = field(repr=False)
    configuration: Configuration = field(repr=False)
    lenient: bool = False
    """Whether what Talos cannot read in the patches is left out."""

    @cached_property
    def origins(self) -> Origins:
        """Where every value comes from: costs as much as all checks together, so it is asked for findings alone."""
        return origins(
            arguments(self.topology, self.node, (), bundle(), lenient=self.lenient), _all_filled(self.patches)
        )

    @cached_property
    def validated(self) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        """What Talos's own validation says of it on its platform: the errors, and the warnings where there are none."""
        mode = PLATFORMS[self.topology.platform.kind].mode
        try:
            return (), validate(self.configuration, mode, at_runtime=True)
        except ConfigError as error:
            return error.problems, ()

    def find(self, *path: str) -> Any:
        """A value of the main document, or None."""
        return self.configuration.find(*path)

    def all_at(self, *steps: str, kinds: Collection[str] = (MAIN,)) -> Iterator[tuple[str, Path, Any]]:
        """Every value at a place of the documents of some kinds, with title and path: see `paths.all_at`."""
        for document in self.configuration.documents:
            if document.kind in kinds:
                yield from ((document.title, path, value) for path, value in all_at(document.values, *steps))

    def place_of(self, path: Path, title: str = MAIN) -> str:
        """The file and line that set a value, to name the other one of two; without any, that Talos generates it."""
        origin = self.origins.origin(title, path)
        return str(origin) if origin is not None and origin.file else "what Talos generates"

    def finding(self, message: str, cure: str, *, title: str = MAIN, path: Path = (), value: str = "") -> Finding:
        """A finding at a place, told with the file and line that set it, or the nearest place around it."""
        at, source, line = self._blamed(title, path, value)
        place = Place(in_patches(source) if source else "", line, at, title, (self.node.name,))
        return Finding(place, message, cure, value=value)

    def refused(self, problem: Problem) -> Finding:
        """A finding in Talos's own words."""
        cure = "correct the patch, or the key of the stack file that it takes this from"
        title = problem.document or MAIN
        return self.finding(problem.message, cure, title=title, path=problem.path, value=problem.value)

    def is_about_a_placeholder(self, finding: Finding) -> bool:
        """Whether a finding is about a value that only stands for a secret, so that nothing is known of it."""
        for patch in self.patches:
            if patch.file == finding.place.file and patch.is_secret:
                rows = enumerate(patch.text.split("\n"), 1)
                return any(patch.line(at) == finding.place.line and holds_placeholder(row) for at, row in rows)
        return False

    def _blamed(self, title: str, path: Path, value: str) -> tuple[Path, str, int | None]:
        """The place of a value at or below a path, and the file and line that set it or the nearest thing around it."""
        documents = self.origins.documents
        if title not in documents:
            return path, "", None
        for length in range(len(path), 0 if title == MAIN else -1, -1):
            for place in (*self._with_value(title, path[:length], value), path[:length]):
                origin = self.origins.origin(title, place)
                if origin is not None and origin.file:
                    return max(place, path, key=len), origin.file, origin.line
            gone = [steps for at, place, steps in self.origins.removed if at == title and _is_in(place, path, length)]
            if gone and gone[-1]:
                return path, gone[-1][-1].origin.file, gone[-1][-1].origin.line
        return path, "", None

    def _with_value(self, title: str, path: Path, value: str) -> Iterator[Path]:
        """The places below one that hold a value, or have it as their key, the last said first."""
        try:
            below = leaves(value_at(self.origins.documents[title], path))
        except LookupError:
            return
        yield from reversed([(*path, *place) for place, leaf in below if value and value in (str(leaf), *place[-1:])])


def made(topology: Topology, node: Node, patches: Iterable[Patch], *, lenient: bool = False) -> Final | Finding:
    """The final configuration of a node, or why the provider could not make one; see machinery for `lenient`."""
    patches = tuple(patches)
    filled = _all_filled(patches)
    try:
        text = generate_configuration(arguments(topology, node, filled, bundle(), lenient=lenient))
    except ConfigError as error:
        return _not_made(topology, node, filled, error)
    try:
        read = parse_configuration(text, str(topology.versions.talos), lenient=lenient)
    except ConfigError as error:
        final = Final(topology, node, patches, text, Configuration((), PROVIDER), lenient)
        return final.refused(error.problems[0])
    return Final(topology, node, patches, text, read, lenient)


def _is_in(place: Path, path: Path, length: int) -> bool:
    """Whether a deleted place is the one of a path's first keys, or an entry of the list at the path itself."""
    return place == path[:length] or (length == len(path) and place[:length] == path)


@lru_cache(maxsize=1)
def bundle() -> Bundle:
    """Placeholders that are as long as the longest secrets, so that the size of a configuration can be told."""
    known = placeholder_bundle()
    return replace(known, k8s_service_account=KeyPair("", known.k8s_service_account.key.ljust(_RSA_KEY, "\n")))


def _not_made(topology: Topology, node: Node, patches: Sequence[Patch], error: ConfigError) -> Finding:
    """The finding at the first patch that cannot be applied."""
    for count, patch in enumerate(patches, 1):
        try:
            generate_configuration(arguments(topology, node, patches[:count], bundle()))
        except ConfigError as reason:
            problem = reason.problems[0]
            place = Place(patch.file, patch.line(problem.line), nodes=(node.name,))
            return Finding(place, problem.message, "correct the patch")
    return Finding(Place(nodes=(node.name,)), str(error), "correct it")


def _all_filled(patches: Sequence[Patch]) -> tuple[Patch, ...]:
    return tuple(map(_filled, patches))


@lru_cache(maxsize=4096)
def _filled(patch: Patch) -> Patch:
    """A patch with something of a fitting form in the place of every secret that is not put in yet."""
    if not holds_placeholder(patch.text) or _is_read(patch.text):
        return patch
    keys = sorted(patch.secrets)
    tries = (dict(zip(keys, each, strict=False)) for each in itertools.product(_GUESSES, repeat=min(len(keys), 3)))
    texts = (_with(patch.text, {key: guess for key, guess in each.items() if guess}) for each in tries)
    return replace(patch, text=next(filter(_is_read, texts), patch.text))


def _with(text: str, values: Mapping[str, str]) -> str:
    try:
        return put_in(text, values)
    except ConfigError:  # said by the checks, with its line
        return text


def _is_read(text: str) -> bool:
    try:
        read_patches([text])
    except ConfigError:
        return False
    return True
