from dataclasses import replace

import pytest

from machineconfig.forms import is_harmless
from machineconfig.marks import VARIANTS, Mask, placeholder, placeholder_bundle, twin_bundle
from machineconfig.veil import Veiled, dependent, unknown, veil

NOTHING = Mask({})


@pytest.mark.parametrize("name", ["a", "own", "registryPassword", "x" * 40, "0123456789", "Zz9"])
def test_placeholders_have_nothing_in_common_at_any_place(name: str) -> None:
    left, right = (placeholder(name, variant).casefold() for variant in VARIANTS)
    assert len(left) == len(right)
    assert not any(a == b for a, b in zip(left, right, strict=True))


def test_a_twin_has_the_secrets_that_the_other_has() -> None:
    bundle = placeholder_bundle()

    for aescbc, secretbox in (("", "x"), ("x", ""), ("x", "x")):
        given = replace(bundle, aescbc_encryption_secret=aescbc, secretbox_encryption_secret=secretbox)
        twin = twin_bundle(given, 1)
        assert bool(twin.aescbc_encryption_secret) == bool(aescbc)
        assert bool(twin.secretbox_encryption_secret) == bool(secretbox)


def test_what_is_not_the_same_with_other_secrets() -> None:
    made = {
        "v1alpha1": {"a": {"b": "1", "c": ["x", "s"]}, "k": {"s": 1}},
        "Kind/s": {"a": 1},
        "Kind": {"n": [{"s": 1}]},
    }
    twin = {"v1alpha1": {"a": {"b": 1, "c": ["x"]}, "k": {"t": 1}}, "Kind/t": {"a": 1}, "Kind": {"n": []}}
    places = dependent(made, [twin])
    assert places == {
        ("v1alpha1", ("a", "b")),
        ("v1alpha1", ("a", "c", 1)),
        ("v1alpha1", ("k",)),
        ("Kind/s", ()),
        ("Kind", ("n", 0)),
    }
    assert dependent(made, [made]) == frozenset()
    assert dependent(made, [made, None]) == {(title, ()) for title in made}
    shown = veil(made, places)
    assert list(shown) == ["v1alpha1", "Kind/(secret 1)", "Kind"]
    assert shown["v1alpha1"]["k"] == Veiled({"s": 1}) and "'s'" not in repr(shown)


def test_of_a_machine_is_shown_what_is_open_anyway_and_what_no_secret_looks_like() -> None:
    ours = {
        "v1alpha1": {"labels": {"tier": "gold"}, "urls": [Veiled("https://m.example/a")], "auth": Veiled({"a": "b"})}
    }
    live = {
        "v1alpha1": {
            "labels": {"was": "gold", "is": "silver", "n": "12", "m": 12, "b": True},
            "urls": ["https://n.example", "1"],
            "auth": {"x": 1},
            "made": "9941",
        }
    }
    assert unknown(live, ours, Mask({"299419": "<secret pin>"})) == {
        ("v1alpha1", ("labels", "is")): False,
        ("v1alpha1", ("urls", 0)): True,
        ("v1alpha1", ("urls", 1)): True,
        ("v1alpha1", ("auth", "x")): True,
        ("v1alpha1", ("made",)): True,
    }


@pytest.mark.parametrize(
    "text",
    [
        "262144", "-1", "0.5", "100GiB", "10m", "1h30m", "5 GB", "0o600", "true", "off", "v1.13.9", "1.14.0-rc.1",
        "02:00:5e:00:53:01", "10.0.0.1", "10.0.0.0/8", "!10.0.0.5/32", "10.0.0.1:2379", "fd00::1", "fd00::/64", "[::1]",
        "ghcr.io/siderolabs/kubelet:v1.36.2", f"registry.k8s.io/a/b:v1.2@sha256:{'0' * 64}", "https://a.example:6443",
        "/dev/disk/by-id/nvme-x_1",
    ],
)  # fmt: skip
def test_forms_that_no_secret_has(text: str) -> None:
    assert is_harmless("v1alpha1", ("machine", "sysctls", "a"), text)


@pytest.mark.parametrize(
    "text",
    [
        "correcthorse", "CORRECTHORSE", "correct.horse.battery", "hunter2", "https://a.example/hook/x", "https://a:b@c.example",
        "https://a.example?x=y", "/secret", "a/b:1", "", "1" * 40, "10.0.0.1 hunter2", "true\n",
    ],
)  # fmt: skip
def test_other_texts_may_come_from_a_secret(text: str) -> None:
    assert not is_harmless("v1alpha1", ("machine", "sysctls", "a"), text)


def test_places_that_hold_no_secret() -> None:
    assert is_harmless("v1alpha1", ("cluster", "clusterName"), "lab")
    assert is_harmless("v1alpha1", ("machine", "network", "interfaces", "*", "interface"), "eth0")
    assert is_harmless("UserVolumeConfig/local", ("name",), "local")
    assert not is_harmless("v1alpha1", ("name",), "local")
    assert not is_harmless("v1alpha1", ("machine", "nodeLabels", "hostname"), "local")
    assert not is_harmless("v1alpha1", ("machine", "certSANs", "*"), "correcthorse.example")
