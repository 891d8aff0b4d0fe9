"""What may be shown of a configuration, from files and from a machine."""

from dataclasses import replace

import pytest

from machineconfig.placeholder import like, placeholder, placeholder_bundle
from machineconfig.redaction import Redacted, is_public, looks_secret, of_files, of_machine, secret_places

P = placeholder("pw")


@pytest.mark.parametrize(("aescbc", "secretbox"), [("", "x"), ("x", ""), ("x", "x")])
def test_placeholders_for_a_bundle_have_its_shape(aescbc: str, secretbox: str) -> None:
    given = replace(placeholder_bundle(), aescbc_encryption_secret=aescbc, secretbox_encryption_secret=secretbox)
    made = like(given)
    assert bool(made.aescbc_encryption_secret) == bool(aescbc)
    assert bool(made.secretbox_encryption_secret) == bool(secretbox)


def test_what_is_not_the_same_with_placeholders_comes_from_a_secret() -> None:
    made = {
        "v1alpha1": {"a": {"b": "1", "c": ["x", "s"]}, "k": {"s": 1}},
        "Kind/s": {"a": 1},
        "Kind": {"n": [{"s": 1}]},
    }
    without = {"v1alpha1": {"a": {"b": 1, "c": ["x"]}, "k": {"t": 1}}, "Kind/t": {"a": 1}, "Kind": {"n": []}}
    places = secret_places(made, without)
    assert places == {
        ("v1alpha1", ("a", "b")),
        ("v1alpha1", ("a", "c", 1)),
        ("v1alpha1", ("k",)),
        ("Kind/s", ()),
        ("Kind", ("n", 0)),
    }
    assert secret_places(made, made) == frozenset()
    assert secret_places(made, None) == {(title, ()) for title in made}
    shown = of_files(made, places)
    assert list(shown) == ["v1alpha1", "Kind/(secret 1)", "Kind"]
    assert shown["v1alpha1"]["k"] == Redacted({"s": 1}) and "'s'" not in repr(shown)


def test_what_holds_a_placeholder_comes_from_a_secret() -> None:
    bundle = placeholder_bundle()
    made = {
        "v1alpha1": {"a": f"x{P}y", "b": ["x", P], "c": {P: 1}, "d": {"e": bundle.cluster_secret}, "f": "x"},
        f"Kind/{P}": {"a": 1},
    }
    assert secret_places(made, made) == {
        ("v1alpha1", ("a",)),
        ("v1alpha1", ("b", 1)),
        ("v1alpha1", ("c",)),
        ("v1alpha1", ("d", "e")),
        (f"Kind/{P}", ()),
    }


def test_of_files_what_stands_in_clear_is_redacted_by_its_place_or_its_looks() -> None:
    made = {
        "v1alpha1": {"machine": {"env": {"DB_PASSWORD": "x", "A": "https://u:p@x"}, "nodeLabels": {"tier": "gold"}}}
    }
    machine = of_files(made, ())["v1alpha1"]["machine"]
    assert machine["nodeLabels"] == {"tier": "gold"}
    assert all(isinstance(value, Redacted) for value in machine["env"].values())


def test_of_a_machine_only_public_places_are_shown_and_what_the_files_say_openly() -> None:
    ours = {
        "v1alpha1": {
            "machine": {
                "nodeLabels": {"tier": "gold"},
                "udev": {"rules": [Redacted("https://m.example/a")]},
                "env": Redacted({"a": "b"}),
            }
        }
    }
    live = {
        "v1alpha1": {
            "machine": {
                "nodeLabels": {"was": "gold", "is": "silver", "n": "12", "b": True},
                "udev": {"rules": ["https://n.example", "1"]},
                "env": {"x": 1},
                "sysctls": {"a": "262144"},
                "install": {"wipe": True, "disk": "/dev/vda", "image": "x 299419"},
                "network": {"interfaces": [{"interface": "eth0", "mtu": 1500, "addresses": ["10.0.0.1/24"]}]},
                "certSANs": ["own.example.org"],
            }
        }
    }
    shown = of_machine(live, ours, ["299419"])["v1alpha1"]["machine"]
    assert shown["nodeLabels"] == {"was": "gold", "is": Redacted("silver"), "n": Redacted("12"), "b": True}
    assert [str(shown["nodeLabels"]["is"]), str(shown["env"])] == ["(not shown)", "{'x': Redacted(certain=True)}"]
    assert [str(each) for each in shown["udev"]["rules"]] == ["(secret)", "(secret)"]
    assert str(shown["sysctls"]["a"]) == "(not shown)" and str(shown["certSANs"][0]) == "(not shown)"
    assert (shown["install"]["wipe"], shown["install"]["disk"]) == (True, "/dev/vda")
    assert str(shown["install"]["image"]) == "(secret)"
    assert shown["network"] == live["v1alpha1"]["machine"]["network"]


def test_a_secret_that_is_a_key_or_a_name_on_a_machine_takes_the_whole_with_it() -> None:
    live = {
        "v1alpha1": {"machine": {"nodeLabels": {"hunter2": "x", "a": "b"}}},
        "ExtensionServiceConfig/hunter2": {"a": 1},
    }
    shown = of_machine(live, {"v1alpha1": {"machine": {}}}, ["hunter2"])
    assert str(shown["v1alpha1"]["machine"]["nodeLabels"]) == "(secret)"
    assert "hunter2" not in repr(shown)


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("v1alpha1", "cluster.clusterName"),
        ("v1alpha1", "machine.network.interfaces.*.interface"),
        ("v1alpha1", "machine.network.interfaces.*.mtu"),
        ("v1alpha1", "machine.kubelet.image"),
        ("v1alpha1", "machine.install.wipe"),
        ("v1alpha1", "machine.time.bootTimeout"),
        ("UserVolumeConfig/local", "name"),
        ("UserVolumeConfig/local", "provisioning.minSize"),
        ("HostnameConfig", "hostname"),
    ],
)
def test_places_that_hold_no_secret(title: str, path: str) -> None:
    assert is_public(title, tuple(path.split(".")))


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("v1alpha1", "name"),
        ("v1alpha1", "machine.nodeLabels.hostname"),
        ("v1alpha1", "machine.certSANs.*"),
        ("v1alpha1", "machine.env.A"),
        ("v1alpha1", "machine.sysctls.a"),
        ("v1alpha1", "machine.files.*.content"),
        ("v1alpha1", "machine.kubelet.extraArgs.v"),
        ("v1alpha1", "machine.kubelet.extraConfig.a.b"),
        ("v1alpha1", "machine.registries.mirrors.a.endpoints.*"),
        ("v1alpha1", "cluster.extraManifests.*"),
        ("v1alpha1", "cluster.inlineManifests.*.contents"),
        ("ExtensionServiceConfig/a", "environment.*"),
        ("Unknown", "a"),
        ("v1alpha1", "no.such.place"),
    ],
)
def test_places_that_may_hold_a_secret(title: str, path: str) -> None:
    assert not is_public(title, tuple(path.split(".")))


def test_no_place_where_talos_keeps_a_secret_is_shown() -> None:
    for path in (("machine", "token"), ("cluster", "ca", "key"), ("cluster", "etcd", "ca", "crt"), ("cluster", "id")):
        assert looks_secret(path, "x")
