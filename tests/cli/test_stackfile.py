from pathlib import Path

import pytest

from cli.errors import CliError
from cli.stackfile import read, stacks

CLUSTER = "config:\n  talos-stacks:cluster:\n    name: a\n    flag: off\n    mode: 010\n    day: 2026-01-02\n"


def written(folder: Path, text: str) -> Path:
    (folder / "Pulumi.a.yaml").write_text(text)
    return folder


def test_the_cluster_is_read_as_yaml_1_2(tmp_path: Path) -> None:
    found = read("a", written(tmp_path, CLUSTER))
    assert found.cluster["flag"] == "off"
    assert found.cluster["mode"] in (10, "010")
    assert found.folder == tmp_path


def test_encrypted_values_are_marks(tmp_path: Path) -> None:
    text = (
        CLUSTER
        + "  talos-stacks:password:\n    secure: v1:abc:def\n  talos-stacks:list:\n    - secure: v1:ghi\n    - b\n"
    )
    found = read("a", written(tmp_path, text))
    assert found.config["password"] == "<secret password>"
    assert found.config["list"] == ["<secret list>", "b"]
    assert found.secrets == {"password", "list"}
    assert "v1:abc" not in repr(found) and "v1:abc" not in str(found.config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", "Pulumi.a.yaml:1 is not YAML: "),
        ("- a\n", "Pulumi.a.yaml holds no configuration"),
        ("config: 5\n", "Pulumi.a.yaml: config must be a map"),
        ("config:\n  a: hunter2\n  a: hunter3\n", "Pulumi.a.yaml:3 is not YAML: found duplicate key"),
        (CLUSTER + "    token:\n      secure: v1:abc\n", "Pulumi.a.yaml: cluster.token is encrypted"),
        (CLUSTER + "    x: \x01\n", "Pulumi.a.yaml"),
        ("config: &a {b: *a}\n", "Pulumi.a.yaml"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CliError) as caught:
        read("a", written(tmp_path, text))
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)
    assert "hunter" not in str(caught.value) and "v1:abc" not in str(caught.value)


def test_bytes_that_are_no_text_are_said(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.a.yaml").write_bytes(b"config: \xff\xfe")
    with pytest.raises(CliError, match="is not UTF-8"):
        read("a", tmp_path)


def test_the_names_of_stacks_are_those_of_files(tmp_path: Path) -> None:
    for name in ("Pulumi.yaml", "Pulumi.b.yaml", "Pulumi.a-1.yaml", "other.yaml"):
        (tmp_path / name).touch()
    assert stacks(tmp_path) == ("a-1", "b")
    with pytest.raises(CliError, match="there are: a-1, b"):
        read("../b", tmp_path)
