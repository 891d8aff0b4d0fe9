"""JSON patches: what the library behind Talos takes beyond RFC 6902, and what it refuses."""

from typing import Any

import pytest

from machinery import ConfigError, parse_configuration
from tests.machinery.texts import generated

TAKEN = [
    ('{"op": "replace", "path": "/machine/sysctls", "value": {"a": "b"}}', ("machine", "sysctls"), {"a": "b"}),
    ('{"op": "test", "path": "/machine/env", "value": null}', ("machine", "env"), None),
    ('{"op": "copy", "from": "/machine/env", "path": "/machine/sysctls"}', ("machine", "sysctls"), None),
    ('{"op": "add", "path": "machine/type", "value": "worker"}', None, None),
    ('{"op": "add", "path": "x/machine/token", "value": "t"}', ("machine", "token"), "t"),
    ('{"op": "add", "path": "/machine/certSANs/-1", "value": "a"}', ("machine", "certSANs"), ["a"]),
    ('{"op": "replace", "path": "/cluster/network/podSubnets/-1", "value": "10.0.0.0/8"}', None, None),
]
REFUSED = [
    ('{"op": "add", "path": "/machine/certSANs/5", "value": "a"}', "the list has no entry 5"),
    ('{"op": "test", "path": "/machine/features/kubePrism/port", "value": 7445.0}', "the value differs"),
    ('{"op": "test", "path": "/machine/install/wipe", "value": 0}', "the value differs"),
    ('{"op": "remove", "path": "/machine/nothing"}', "does not fit the configuration"),
    ('{"op": "add", "path": 5, "value": 1}', "path must be text"),
    ('{"op": "add", "path": "machine", "value": {}}', "path must start with /"),
    ('{"op": "add", "path": "/machine/type/deep", "value": 1}', "leads through a value that is no map"),
    ('{"op": "replace", "path": "", "value": "a"}', "by a map or a list only"),
    ('{"op": "add", "path": "/machine/token", "value": "a\\/b"}', "an escape that Talos cannot read"),
    ('{"op": "Add", "path": "/machine/token"}', "the operation is not known"),
]


@pytest.mark.parametrize(("operation", "path", "value"), TAKEN)
def test_what_talos_takes_is_taken(operation: str, path: tuple[str, ...] | None, value: Any) -> None:
    if "machine/type" in operation:
        with pytest.raises(ConfigError, match="type is not a key"):  # of the whole: the first part does not count
            generated(f"[{operation}]", machine_type="worker", talos_version="v1.11")
        return
    text = generated(f"[{operation}]", machine_type="worker", talos_version="v1.11")
    assert path is None or parse_configuration(text).find(*path) == value


@pytest.mark.parametrize(("operation", "message"), REFUSED)
def test_what_talos_refuses_is_refused_with_the_reason(operation: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        generated(f"[{operation}]", machine_type="worker", talos_version="v1.11")


def test_patches_that_follow_each_other_are_one() -> None:
    add, remove = ('[{"op": "add", "path": "/x", "value": 1}]', '[{"op": "remove", "path": "/x"}]')
    generated(add, remove, machine_type="worker", talos_version="v1.11")
    with pytest.raises(ConfigError, match="x is not a key"):
        generated(add, machine_type="worker", talos_version="v1.11")
