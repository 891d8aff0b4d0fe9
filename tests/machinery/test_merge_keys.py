"""YAML's `<<` in a configuration, as the provider's plugin takes it: an alias in a map of text, and nothing else."""

import pytest

from machinery import ConfigError
from tests.machinery.texts import configured

ANCHOR = 'machine:\n  sysctls: &s {a: "1", b: "2"}\n'


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('  sysfs: {<<: *s, b: "3"}\n', {"a": "1", "b": "3"}),
        ('  sysfs: {b: "3", <<: *s}\n', {"a": "1", "b": "3"}),
        ('  sysfs: {"<<": x}\n', {"<<": "x"}),
    ],
)
def test_an_alias_is_followed_in_a_map_of_text(text: str, read: dict[str, str]) -> None:
    assert configured(ANCHOR + text).find("machine", "sysfs") == read


def test_a_map_that_follows_an_alias_can_be_followed() -> None:
    found = configured(ANCHOR + '  sysfs: &t {<<: *s, c: "3"}\n  env: {<<: *t, d: "4"}\n')
    assert found.find("machine", "env") == {"a": "1", "b": "2", "c": "3", "d": "4"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  sysfs: {<<: {a: b}}\n", "machine.sysfs.<< must be an alias such as"),
        ("  sysfs: {<<: [*s]}\n", "machine.sysfs.<< must be an alias of a map"),
        ("  sysfs: {<<: x}\n", "machine.sysfs.<< must be an alias of a map"),
        ("  sysfs: {<<: ~}\n", "machine.sysfs.<< must be an alias of a map"),
        ("  sysfs: {<<: *s, <<: *s}\n", 'the key "<<" already stands'),
        ("  kubelet: {<<: *s}\n", "machine.kubelet.<< is not a key"),
        ("  kubelet: {extraConfig: &k {a: {b: c}}}\n  sysfs: {<<: *k}\n", "machine.sysfs.a must be one value"),
    ],
)
def test_anything_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        configured(ANCHOR + text)
