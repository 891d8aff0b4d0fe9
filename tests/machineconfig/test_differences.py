"""Two configurations compared: nothing is missed, nothing is said twice, secrets stay hidden."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machineconfig.differences import compare
from machineconfig.paths import leaves
from machineconfig.placeholder import all_shown, machine_secrets, placeholder_bundle
from machineconfig.redaction import looks_secret


def changes(old: Any, new: Any) -> list[tuple[str, str]]:
    return [(change.kind, change.place) for change in compare({"v1alpha1": old}, {"v1alpha1": new})]


def test_what_is_lost_comes_first_then_places_in_order() -> None:
    old = {"machine": {"b": 1, "z": 1, "y": {"p": 1, "q": 2}}}
    new = {"machine": {"b": 2, "a": 1, "z": 1}}
    assert changes(old, new) == [
        ("removed", "machine.y.p"),
        ("removed", "machine.y.q"),
        ("added", "machine.a"),
        ("changed", "machine.b"),
    ]


def test_documents_are_told_apart_by_kind_and_name_and_the_main_one_comes_first() -> None:
    old = {"v1alpha1": {"a": 1}, "VLANConfig/x": {"kind": "VLANConfig"}, "TimeSyncConfig": {"enabled": True}}
    new = {"v1alpha1": {"a": 2}, "VLANConfig/y": {"kind": "VLANConfig"}, "TimeSyncConfig": {"enabled": False}}
    assert [(change.kind, change.place) for change in compare(old, new)] == [
        ("changed", "a"),
        ("changed", "TimeSyncConfig:enabled"),
        ("removed", "VLANConfig/x:kind"),
        ("added", "VLANConfig/y:kind"),
    ]


def test_entries_of_lists_keep_their_names() -> None:
    old = {"interfaces": [{"interface": "eth0", "mtu": 1}, {"interface": "eth1", "mtu": 2}]}
    new = {"interfaces": [{"interface": "eth1", "mtu": 3}]}
    assert changes(old, new) == [
        ("removed", "interfaces[0].interface"),
        ("removed", "interfaces[0].mtu"),
        ("changed", "interfaces[0].mtu"),
    ]


def test_an_entry_in_the_middle_of_a_list_is_one_change() -> None:
    assert changes({"l": ["a", "b", "c"]}, {"l": ["a", "c"]}) == [("removed", "l[1]")]
    assert changes({"l": ["a", "c"]}, {"l": ["a", "b", "c"]}) == [("added", "l[1]")]
    assert changes({"l": ["a", "b"]}, {"l": ["a", "x"]}) == [("changed", "l[1]")]


def test_an_entry_that_becomes_something_else_is_lost_at_its_old_place() -> None:
    assert changes({"l": ["x", ["y"], [], []]}, {"l": [[], "z"]}) == [
        ("removed", "l[0]"),
        ("removed", "l[1][0]"),
        ("removed", "l[3]"),
        ("added", "l[1]"),
    ]


def test_another_order_is_a_change() -> None:
    (change,) = compare({"d": {"l": [{"name": "a"}, {"name": "b"}]}}, {"d": {"l": [{"name": "b"}, {"name": "a"}]}})
    assert (change.place, change.reordered, change.old, change.new) == ("d:l", True, ["a", "b"], ["b", "a"])
    assert changes({"l": ["a", "b"]}, {"l": ["b", "a"]})


@pytest.mark.parametrize(("old", "new"), [(True, 1), (0, False), ("1", 1), (None, ""), ({}, []), ({}, None), ([], "a")])
def test_values_of_another_type_are_different(old: Any, new: Any) -> None:
    assert changes({"a": old}, {"a": new})


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "a", "b"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["name", "a", "b"]), inner, max_size=3),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(st.sampled_from(["v1alpha1", "A", "B/x"]), VALUES, max_size=3)


@given(DOCUMENTS, DOCUMENTS)
@settings(max_examples=300, deadline=None)
def test_there_is_no_change_exactly_where_nothing_is_different(old: Any, new: Any) -> None:
    found = compare(old, new)
    assert compare(old, old) == () and compare(new, new) == ()
    assert bool(found) == (repr(_sorted(old)) != repr(_sorted(new)))
    for change in found:
        side = old if change.kind == "removed" else new
        assert change.reordered or change.path in dict(leaves(side[change.document]))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


BUNDLE = placeholder_bundle()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("machine", "token"), "x"),
        (("machine", "ca", "key"), "x"),
        (("machine", "registries", "config", "r.example", "auth", "username"), "x"),
        (("machine", "env", "https_proxy"), "http://user:word@proxy.example:3128"),
        (("cluster", "extraArgs", "oidc-client-secret"), "x"),
        (("cluster", "inlineManifests", 0, "contents"), "kind: Secret\ndata:\n  a: -----BEGIN KEY-----\n"),
        pytest.param(("machine", "sysctls", "a"), BUNDLE.bootstrap_token, id="a bootstrap token"),
        (("machine", "sysctls", "a"), "mDq7Ue0xkL2vB9sT4wYc8RzH5nJp1GfAaaaaaaaaaa=="),
        (("machine", "network", "interfaces", 0, "wireguard", "privateKey"), "x"),
        (("systemDiskEncryption", "keys", 0, "static", "passphrase"), "x"),
    ],
)
def test_secrets_in_clear_are_known_by_place_and_by_looks(path: Any, value: str) -> None:
    assert looks_secret(path, value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("machine", "install", "image"), f"factory.example/metal-installer/{'0a1b' * 16}:v1.13.9"),
        (("machine", "install", "diskSelector", "busPath"), "/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0"),
        (("machine", "kubelet", "image"), "ghcr.io/siderolabs/kubelet:v1.36.2"),
        (
            ("cluster", "extraManifests", 0),
            "https://raw.githubusercontent.com/a/Kubelet-serving-cert-approver/v0.10.0/x.yaml",
        ),
        (("machine", "sysctls", "net.core.somaxconn"), "1024"),
    ],
)
def test_what_people_need_to_read_is_shown(path: Any, value: str) -> None:
    assert not looks_secret(path, value)


def test_every_machine_secret_has_a_mark() -> None:
    marks = {mark for _, mark in machine_secrets(BUNDLE)}
    assert {"<certs.os.key>", "<certs.k8sserviceaccount.key>", "<trustdinfo.token>", "<cluster.secret>"} <= marks
    assert len(marks) == 14
    text = all_shown("".join(value for value, _ in machine_secrets(placeholder_bundle())))
    assert "LS0t" not in text and text.count("<") == 14
