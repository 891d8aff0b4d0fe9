"""`$patch: delete` in all the places where it can stand."""

import pytest

from machinery import ConfigError, parse_configuration
from tests.machinery.texts import configured, generated, values

SERVICE = "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: nut\n"
FILES = f"""{SERVICE}environment: [A=b]
configFiles:
  - {{content: a, mountPath: /a}}
  - {{content: b, mountPath: /b}}
"""


def test_a_key_and_a_map_entry_go() -> None:
    configuration = configured(
        "machine:\n  install:\n    disk: {$patch: delete}\n"
        "  nodeLabels:\n    node.kubernetes.io/exclude-from-external-load-balancers: {$patch: delete}\n"
    )
    assert "disk" not in configuration.find("machine", "install")
    assert configuration.find("machine", "nodeLabels") is None


def test_what_stands_beside_a_deletion_is_merged_after_it() -> None:
    patch = SERVICE + "environment: [C=d]\nconfigFiles: {$patch: delete}\n"
    assert values(configured(FILES, patch), "ExtensionServiceConfig") == {
        "apiVersion": "v1alpha1",
        "kind": "ExtensionServiceConfig",
        "name": "nut",
        "environment": ["A=b", "C=d"],
    }


def test_an_item_of_a_list_goes_by_its_first_key() -> None:
    patch = SERVICE + "configFiles: [{mountPath: /a, $patch: delete}]\n"
    service = values(configured(FILES, patch), "ExtensionServiceConfig")
    assert service["configFiles"] == [{"content": "b", "mountPath": "/b"}]


def test_a_named_document_goes() -> None:
    patch = SERVICE + "$patch: delete\n"
    assert configured(FILES, patch).of_kind("ExtensionServiceConfig") == ()


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("machine:\n  network:\n    hostname: {$patch: delete}\n", "finds no machine.network.hostname"),
        ("machine:\n  bogus: {$patch: delete}\n", "finds no machine.bogus"),
        ("machine:\n  ca:\n    key: {$patch: delete}\n", "finds no machine.ca.key"),
        ("cluster:\n  apiServer:\n    admissionControl: [{name: X, $patch: delete}]\n", "with name X"),
        ("cluster:\n  apiServer:\n    admissionControl: [{$patch: delete}]\n", "needs a key that says which item"),
        ("machine:\n  files: [{path: /a, content: {$patch: delete}}]\n", "inside a list item"),
        ("machine: {type: worker}\n$patch: delete\n", "needs its apiVersion and kind"),
        ("apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n$patch: delete\n", "no document LinkConfig/eth0"),
    ],
)
def test_a_deletion_that_finds_nothing_is_refused(patch: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        generated(patch)


def test_deleting_a_nameless_document_that_is_not_there_leaves_one_that_no_machine_takes() -> None:
    text = generated("apiVersion: v1alpha1\nkind: KubeSpanConfig\n$patch: delete\n")
    with pytest.raises(ConfigError, match="a second document"):
        parse_configuration(text)


GONE = "apiVersion: v1alpha1\nkind: WireguardConfig\nname: wg0\n$patch: delete\n"


def test_deleting_what_is_not_there_twice_is_deleting_nothing() -> None:
    assert generated(GONE, GONE) == generated()
    with pytest.raises(ConfigError, match="finds no document WireguardConfig/wg0"):
        generated(GONE)


def test_a_deletion_with_another_version_deletes_nothing() -> None:
    made = "apiVersion: v1alpha1\nkind: WireguardConfig\nname: wg0\n"
    with pytest.raises(ConfigError, match="finds no document WireguardConfig/wg0"):
        generated(made, GONE.replace("v1alpha1", "v1"))
