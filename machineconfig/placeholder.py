"""What stands for a secret until the end: a template writes a placeholder, and the value is put in at last.

A placeholder is letters and digits, valid in YAML, JSON, base64 and the names of keys. It says which secret it stands
for, and how often `| flow` has quoted it, so that the value can be written there exactly, whatever is in it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from findings import Finding
from machineconfig.model import Patch, mark
from machinery import Bundle, generate_secrets
from machinery.secrets import PAIRS, TEXTS, encoded
from machinery.structure import DOCUMENTS, V1ALPHA1, ListOf, MapOf, Scalar, Struct, Type
from machinery.yaml import PLAIN, MappingNode, Node, ScalarNode, SequenceNode, compose

_HEAD = "s3cr3t7x"
_FORM = re.compile(rf"{_HEAD}((?:[0-9a-f]{{2}})+)(?:zz)?L([0-9])")
_MARK = re.compile(r"<secret [\w-]+>")
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
"""An anchor or a tag in front of a value."""
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON writes as they are, and that YAML forbids or takes for the end of a line."""
_UNQUOTED = frozenset(("bool", "int", "uint", "uint8", "uint16", "uint32", "uint64", "filemode", "ports"))
"""Scalars of the structure tables that Talos does not read from a text in quotes."""
_NUMBER = re.compile(r"[-+]?[0-9][0-9xob_]*|true|false")
_DEEPEST = 9
_QUICK = "v1.6"
"""The newest contract whose service account key is not RSA, which takes seconds to make."""


@lru_cache(maxsize=1)
def placeholder_bundle() -> Bundle:
    """Placeholders for the machine secrets: those of a cluster that does not exist, the same for the whole process."""
    return generate_secrets(_QUICK)


def placeholder(name: str, quoted: int = 0) -> str:
    """What stands for the value of `secret(name)`, quoted so many times; its length is valid base64's."""
    code = name.encode().hex()
    return f"{_HEAD}{code}{'' if len(code) % 4 else 'zz'}L{quoted}"


def like(bundle: Bundle) -> Bundle:
    """Placeholders in place of a bundle's secrets, of the same shape: what is empty in it stays empty."""
    made = placeholder_bundle()
    return replace(
        made,
        secretbox_encryption_secret=bundle.secretbox_encryption_secret and made.cluster_secret,
        aescbc_encryption_secret=bundle.aescbc_encryption_secret and made.cluster_secret,
    )


def holds_placeholder(text: str) -> bool:
    """Whether a text has a placeholder of any secret."""
    return _HEAD in text


def quoted_once_more(text: str) -> str:
    """A text that was written as JSON, in which every placeholder knows that it was."""
    if _HEAD not in text:
        return text
    return _FORM.sub(lambda found: placeholder(_name(found), min(int(found[2]) + 1, _DEEPEST)), text)


def shown(text: str) -> str:
    """A text for people: `<secret registryPassword>` in place of a secret."""
    return _FORM.sub(lambda found: mark(_name(found)), text) if _HEAD in text else text


def is_mark(text: str) -> bool:
    """Whether a text for people is a mark and nothing else."""
    return _MARK.fullmatch(text) is not None


def holds_mark(text: str) -> bool:
    """Whether a text for people has a mark in it, of a secret or of a machine secret."""
    return "<" in text and (_MARK.search(text) is not None or any(name in text for _, name in _marks()))


def machine_secrets(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """Each machine secret as a configuration has it, with the mark that is shown in its place."""
    for attribute, name in PAIRS.items():
        pair = getattr(bundle, attribute)
        for part, pem in (("crt", pair.crt), ("key", pair.key)):
            if pem:
                yield encoded(pem), f"<certs.{name}.{part}>"
    for attribute, place in TEXTS.items():
        if value := str(getattr(bundle, attribute)):
            yield value, f"<{'.'.join(place)}>"


def all_shown(text: str) -> str:
    """The same, with marks for the placeholders of machine secrets too: `<certs.os.key>`."""
    for value, name in _marks():
        text = text.replace(value, name)
    return shown(text)


@lru_cache(maxsize=1)
def _marks() -> tuple[tuple[str, str], ...]:
    return tuple(sorted(machine_secrets(placeholder_bundle()), key=lambda pair: -len(pair[0])))


def shown_finding(finding: Finding) -> Finding:
    """A finding for people."""
    place = finding.place
    if not any(
        map(holds_placeholder, (finding.message, finding.cure, finding.value, place.document, repr(place.path)))
    ):
        return finding
    return replace(
        finding,
        place=replace(
            place,
            document=shown(place.document),
            path=tuple(shown(part) if isinstance(part, str) else part for part in place.path),
        ),
        message=shown(finding.message),
        cure=shown(finding.cure),
        value=shown(finding.value),
    )


def filled(patch: Patch, values: Mapping[str, str]) -> Patch:
    """A patch with the values of its secrets, each line where it was; `values` has all of them by name."""
    return replace(patch, text=put_in(patch.text, values)) if patch.is_secret else patch


def put_in(text: str, values: Mapping[str, str]) -> str:
    """YAML with the values in the place of their placeholders: each value is text, exactly as it is.

    What holds a secret is written in quotes, but for a number or a flag in a field for one. No line moves. Names that
    `values` does not have stay as they are. Raises machinery.ConfigError for what is not YAML.
    """
    if _HEAD not in text:
        return text
    scalars = (each for root in compose(text) for each in _scalars(root, _kind_of(root)))
    found = {
        each[0].start_mark.index: each for each in scalars if not text.startswith("*", each[0].start_mark.index)
    }  # no alias
    for _, (node, kind) in sorted(found.items(), reverse=True):
        if _HEAD in node.value:
            start, end = node.start_mark.index, node.end_mark.index
            text = text[:start] + _written(node, kind, text[start:end], values) + text[end:]
    return text


def type_below(kind: Type | None, key: str | int) -> Type | None:
    """What Talos takes at a key of a structure, a map or a list; None where it has no type for it."""
    if isinstance(kind, Struct):
        field = kind.by_name.get(str(key))
        return field.type if field else None
    return kind.item if isinstance(kind, ListOf | MapOf) else None


def _written(node: ScalarNode, kind: Type | None, source: str, values: Mapping[str, str]) -> str:
    properties = _PROPERTIES.match(source)
    before = properties[0] if properties else ""
    in_quotes = source[len(before) : len(before) + 1] == '"'
    value = _FORM.sub(lambda found: _value(found, values, in_quotes), node.value)
    if isinstance(kind, Scalar) and kind.name in _UNQUOTED and node.tag == PLAIN and _NUMBER.fullmatch(value):
        return before + value
    quoted = _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    return f"{before}{quoted}" + "\n" * (source.count("\n") - before.count("\n"))


def _value(found: re.Match[str], values: Mapping[str, str], in_quotes: bool) -> str:
    """A value as it is inside a text: quoted as often as it was, but for what YAML has unquoted itself."""
    if _name(found) not in values:
        return found[0]
    value = values[_name(found)]
    for _ in range(int(found[2]) - in_quotes):
        value = json.dumps(value, ensure_ascii=False)[1:-1]
    return value


def _name(found: re.Match[str]) -> str:
    return bytes.fromhex(found[1]).decode(errors="replace")


def _kind_of(root: Node) -> Type | None:
    if not isinstance(root, MappingNode):
        return None
    kinds = (value.value for key, value in root.value if key.value == "kind" and isinstance(value, ScalarNode))
    kind = next(kinds, "")
    return DOCUMENTS.get(kind) if kind else V1ALPHA1


def _scalars(node: Node, kind: Type | None) -> Iterator[tuple[ScalarNode, Type | None]]:
    """Every scalar with its type; keys have none."""
    if isinstance(node, ScalarNode):
        yield node, kind
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield from _scalars(item, type_below(kind, index))
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _scalars(key, None)
            name = key.value if isinstance(key, ScalarNode) else ""
            yield from _scalars(value, type_below(kind, name))
