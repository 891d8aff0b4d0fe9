"""How a finding is told, whatever it is about."""

import pytest

from findings import NOTHING, Finding, FindingsError, Path, Place, path_of, said_once, show, written


def test_a_finding_of_a_stack_file_is_told_with_path_value_and_cure() -> None:
    finding = Finding.at(("nodes", 2, "address"), "10.0.0.1", "is taken", "take another one")
    assert str(finding) == "nodes[2].address: 10.0.0.1 is taken; take another one"
    assert (finding.value, finding.place.path) == ("10.0.0.1", ("nodes", 2, "address"))
    assert str(Finding.at((), NOTHING, "is empty", "write it")) == "cluster: is empty; write it"


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (Place(path=("nodes", 2, "address")), "nodes[2].address"),
        (Place("Pulumi.lab.yaml", 12, ("nodes", 2)), "Pulumi.lab.yaml:12: nodes[2]"),
        (Place("Pulumi.lab.yaml"), "Pulumi.lab.yaml"),
        (Place("patches/all/20-a.yaml", 3, ("machine",), "v1alpha1", ("cp1",)), "patches/all/20-a.yaml:3 (cp1)"),
        (Place(path=("machine",), document="v1alpha1", nodes=("a", "b", "c")), "machine configuration (a, b, c)"),
        (Place(nodes=("a", "b", "c", "d")), "machine configuration (a, b and 2 more)"),
    ],
)
def test_a_place_is_told_as_far_as_it_is_known(place: Place, told: str) -> None:
    assert str(place) == told


def test_the_check_that_says_it_stands_last() -> None:
    assert str(Finding(Place("a.yaml", 1), "is wrong", "correct it", check="yaml")).endswith("; correct it [yaml]")


def test_what_differs_in_the_node_alone_is_said_once_with_every_node() -> None:
    places = [Place("a.yaml", 1, ("machine", at), "v1alpha1", (node,)) for at, node in enumerate("abca")]
    other = Finding(Place("a.yaml", 2, nodes=("a",)), "is wrong", "correct it")
    (first, second) = said_once([*(Finding(place, "is wrong", "correct it") for place in places), other])
    assert first.place.nodes == ("a", "b", "c") and second == other


def test_an_exception_tells_each_line_once() -> None:
    finding = Finding(Place("a.yaml"), "is wrong", "correct it")
    error = FindingsError([finding, finding, Finding(Place("b.yaml"), "is wrong", "correct it")])
    assert str(error) == "a.yaml: is wrong; correct it\nb.yaml: is wrong; correct it"
    assert len(error.findings) == 3


@pytest.mark.parametrize("path", [("machine", "disks", 0, "device"), ("machine", "install-x"), (), ("a", 0, 1)])
def test_a_path_of_plain_keys_is_read_as_it_is_written(path: Path) -> None:
    assert path_of(written(path)) == path


def test_keys_and_values_stay_in_one_short_line() -> None:
    assert written(("data", "a b\n")) == 'data."a b\\n"'
    assert show("-----BEGIN X-----") == "a block of text"
    assert len(show("x" * 500)) < 70
