import json
import subprocess
from pathlib import Path

import pytest

from cli.errors import CliError
from cli.stackfile import read
from engine.tools import PULUMI, binary
from findings import NOTHING, Finding, path_of
from stackfile import StackFileError
from stackfile import names as stacks

CLUSTER = "config:\n  talos-stacks:cluster:\n    name: a\n    flag: off\n"
# As `pulumi config --json` of the engine prints them.
AS_WRITTEN = {"off": "off", "No": "No", "y": "y", "12:34:56": "12:34:56", "52:54:00:12:34:56": "52:54:00:12:34:56"}
AS_WRITTEN |= {"=": "=", "v1.13": "v1.13", "1.1.1.1": "1.1.1.1", "'010'": "010", '"2024-01-02"': "2024-01-02"}
AS_MEANT = {"0": 0, "-7": -7, "0o10": 8, "0x1f": 31, "1e3": 1000, "+5": 5, ".5": 0.5, "1.25": 1.25, "~": None}
AS_MEANT |= {"True": True, "false": False, "null": None, "9007199254740992": 9007199254740992}
OTHERWISE = {
    "010": "8",
    "-010": "-8",
    "0755": "493",
    "08": "8",
    "0b11": "3",
    "1_000": "1000",
    "1.10": "1.1",
    "1.0": "1",
}
OTHERWISE |= {"9007199254740993": "9007199254740992", "123456789012345678901": "123456789012345683968"}


def written(folder: Path, text: str) -> Path:
    (folder / "Pulumi.a.yaml").write_text(text)
    return folder


def value(folder: Path, text: str) -> object:
    return read("a", written(folder, f"{CLUSTER}    x: {text}\n")).cluster["x"]


@pytest.mark.parametrize(("text", "expected"), [*AS_WRITTEN.items(), *AS_MEANT.items()])
def test_a_value_is_what_the_engine_makes_of_it(tmp_path: Path, text: str, expected: object) -> None:
    found = value(tmp_path, text)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(("text", "number"), OTHERWISE.items())
def test_a_value_that_the_engine_reads_as_another_is_refused_with_its_line(
    tmp_path: Path, text: str, number: str
) -> None:
    with pytest.raises(CliError) as caught:
        value(tmp_path, text)
    assert str(caught.value) == (
        f'Pulumi.a.yaml:5: x: {text} is {number} for the engine; write {number}, or "{text}" in quotes if it is text'
    )


@pytest.mark.parametrize("text", ["2024-01-02", "2024-1-2", "2024-01-02T00:00:00Z", "2024-01-02 10:00:00"])
def test_a_date_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CliError, match="is a date for the engine, which adds a time of day; put it in quotes"):
        value(tmp_path, text)


def test_what_is_no_number_for_json_and_keys_that_are_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CliError) as caught:
        value(tmp_path, ".inf\n    010: {a: 1}")
    assert str(caught.value).splitlines() == [
        "Pulumi.a.yaml:5: x: .inf is a number that the engine cannot keep; put it in quotes if it is text",
        "Pulumi.a.yaml:6: 010: 010 is a key that the engine reads as something else; put it in quotes",
    ]


@pytest.mark.stack
def test_the_engine_reads_values_as_these_tables_say(tmp_path: Path) -> None:
    words = [*AS_WRITTEN, *AS_MEANT, *OTHERWISE, "2024-01-02"]
    text = "config:\n  talos-stacks:cluster:\n" + "".join(f"    k{at}: {word}\n" for at, word in enumerate(words))
    (tmp_path / "Pulumi.yaml").write_text("name: talos-stacks\nruntime: yaml\n")
    settings = {
        "PULUMI_BACKEND_URL": f"file://{tmp_path}",
        "PULUMI_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
    }
    environment = settings | {"PULUMI_CONFIG_PASSPHRASE": "x", "PULUMI_SKIP_UPDATE_CHECK": "true"}

    def pulumi(*arguments: str) -> str:
        command = [str(binary(PULUMI)), *arguments, "--non-interactive"]
        return subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout

    pulumi("stack", "init", "a")
    with (tmp_path / "Pulumi.a.yaml").open("a") as file:
        file.write(text)
    read_by_engine = json.loads(pulumi("config", "--json", "--stack", "a"))["talos-stacks:cluster"]["objectValue"]
    *found, date = (read_by_engine[f"k{at}"] for at in range(len(words)))
    assert found[: -len(OTHERWISE)] == [*AS_WRITTEN.values(), *AS_MEANT.values()]
    assert list(map(float, found[-len(OTHERWISE) :])) == list(map(float, OTHERWISE.values()))
    assert date == "2024-01-02 00:00:00 +0000 UTC"


def test_keys_may_be_merged(tmp_path: Path) -> None:
    found = value(tmp_path, "{a: &a {p: 1, q: 2}, b: {<<: *a, q: 3}, c: {<<: [*a, {r: 4}]}}")
    assert found == {"a": {"p": 1, "q": 2}, "b": {"p": 1, "q": 3}, "c": {"p": 1, "q": 2, "r": 4}}


def test_a_fault_is_placed_at_its_line_or_the_nearest_around_it(tmp_path: Path) -> None:
    found = read("a", written(tmp_path, f"{CLUSTER}    nodes:\n      - name: x\n        role: worker\n"))
    for path, line in {"nodes[0].role": 7, "nodes[0].address": 6, "nodes[4].role": 5, "zones": 2, "cluster": 2}.items():
        place = found.located(Finding.at(path_of(path), NOTHING, "", "")).place
        assert (place.file, place.line) == ("Pulumi.a.yaml", line)


@pytest.mark.parametrize("key", ["cluster", "talos-stacks:config:cluster"])
def test_the_other_spellings_of_a_key_that_the_engine_knows(tmp_path: Path, key: str) -> None:
    assert read("a", written(tmp_path, f"config:\n  {key}: {{name: a}}\n")).cluster == {"name": "a"}


def test_encrypted_values_are_marks(tmp_path: Path) -> None:
    text = (
        CLUSTER
        + "  talos-stacks:password:\n    secure: v1:abc:def\n  talos-stacks:list:\n    - secure: v1:ghi\n    - b\n"
    )
    found = read("a", written(tmp_path, text))
    assert found.config["password"] == "<secret password>"
    assert found.config["list"] == ["<secret list>", "b"]
    assert "v1:abc" not in repr(found) and "v1:abc" not in str(found.config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", "Pulumi.a.yaml:1: is not YAML: "),
        ("- a\n", "Pulumi.a.yaml: holds no configuration"),
        ("config: 5\n", "Pulumi.a.yaml:1: config must be a map"),
        (
            "config:\n  a: hunter2\n  a: hunter3\n",
            "Pulumi.a.yaml:3: is not YAML: the key talos-stacks:a is there twice",
        ),
        (CLUSTER + CLUSTER, "Pulumi.a.yaml:5: is not YAML: the key config is there twice"),
        (CLUSTER + "    name: b\n", "Pulumi.a.yaml:5: is not YAML: the key name is there twice"),
        (CLUSTER + "    ? [a]\n    : b\n", "Pulumi.a.yaml:5: is not YAML: a key must be text"),
        (CLUSTER + "    x: !a b\n", "Pulumi.a.yaml:5: is not YAML: the tag !a is not supported"),
        (CLUSTER + "    x: {<<: 5}\n", "Pulumi.a.yaml:5: is not YAML: << needs a map"),
        (CLUSTER + "---\na: b\n", "Pulumi.a.yaml:6: a second document begins here, which nobody reads"),
        ("confg:\n  talos-stacks:cluster: {}\n", "Pulumi.a.yaml: has no key config; confg is none"),
        ("encryptionsalt: x\n", "Pulumi.a.yaml: has no key config"),
        (
            "config:\n  talos-stacks:clutser: {}\n",
            "Pulumi.a.yaml:2: has no key talos-stacks:cluster; talos-stacks:clutser is a key that nothing reads: write",
        ),
        ("config:\n", "Pulumi.a.yaml: has no key talos-stacks:cluster"),
        (CLUSTER + "    token:\n      secure: v1:abc\n", "Pulumi.a.yaml:2: cluster.token is encrypted"),
        (CLUSTER + "    x: \x01\n", "Pulumi.a.yaml"),
        ("config: &a {b: *a}\n", "Pulumi.a.yaml"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(StackFileError) as caught:
        read("a", written(tmp_path, text))
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)
    assert "hunter" not in str(caught.value) and "v1:abc" not in str(caught.value)


def test_bytes_that_are_no_text_are_said(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.a.yaml").write_bytes(b"config: \xff\xfe")
    with pytest.raises(StackFileError, match="is not UTF-8"):
        read("a", tmp_path)


def test_the_names_of_stacks_are_those_of_files(tmp_path: Path) -> None:
    for name in ("Pulumi.yaml", "Pulumi.b.yaml", "Pulumi.a-1.yaml", "other.yaml"):
        (tmp_path / name).touch()
    assert stacks(tmp_path) == ("a-1", "b")
    with pytest.raises(CliError, match="there are: a-1, b"):
        read("../b", tmp_path)


@pytest.mark.parametrize(("key", "cure"), [("talos", "v1.10.0"), ("kubernetes", "v1.10.0"), ("contract", "v1.10")])
def test_a_version_that_loses_its_last_digit_is_to_be_written_whole(tmp_path: Path, key: str, cure: str) -> None:
    file = read("a", written(tmp_path, f"{CLUSTER}    versions: {{{key}: 1.10}}\n"))
    assert [str(fault) for fault in file.faults] == [
        f"versions.{key}: 1.10 is 1.1 for the engine; write it whole and with its v, such as {cure}"
    ]
