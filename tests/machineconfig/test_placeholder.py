"""A secret is exactly what it is wherever a template writes it, and a template can do nothing else with it."""

import json
from pathlib import Path

import pytest

from findings import Finding, Place
from machineconfig import Patch
from machineconfig.generation import arguments
from machineconfig.placeholder import (
    filled,
    is_mark,
    placeholder,
    placeholder_bundle,
    put_in,
    quoted_once_more,
    shown,
    shown_finding,
)
from machinery import generate_configuration
from machinery.yaml import load
from tests.machineconfig.stacks import check_patches, refused, rendered, stack, write

P = placeholder("a")
J = quoted_once_more(f'"{P}"')
JJ = quoted_once_more(json.dumps(f'{{"k": {J}}}'))
NASTY = [
    "plain", "", " ", 'a"b', "it's", "a: b", "a #b", "# a", "- a", "? a", ": a", "x\ny", "x\n\n y\n", "\n",
    "x\r\ny", "\t", " before", "after ", "{{ x }}", "{% x %}", "{#", "true", "null", "~", "0123", "1e3", "0x10",
    "1_000", "2024-01-01", ".inf", "%", "@", "`", "|", "> x", ">-", "*a", "&b", "!!int 1", "[", "]", "{", "}",
    ",", "---", "...", "<<", "$patch", "\\", "\\n", "\\u0041", "é☃😀", "\x00\x01\x1b\x7f", "\x85",
    "\u2028\u2029", "\ufeffx", "\ue000", "x" * 5000, "<secret a>", P, J,
]  # fmt: skip


def templates(value: str) -> list[tuple[str, str]]:
    """Texts with a placeholder, and what must stand in them in the end."""
    inner = json.dumps(value, ensure_ascii=False)
    return [
        (f"a: {P}", value),
        (f'a: "{P}"', value),
        (f"a: '{P}'", value),
        (f"a: {J}", value),
        (f"b: 1\na: x-{P}-y # c\nc: 1\n", f"x-{value}-y"),
        (f'a: "x {P}\\n{P}"\n', f"x {value}\n{value}"),
        (f"a: |\n  l1\n  k: {P}\n\nb: 2\n", f"l1\nk: {value}\n"),
        (f"a: >-\n  l1\n  k: {P}\n# c\nb: 2", f"l1 k: {value}"),
        (f"x:\n- a\n- b: |-\n    {P}\na: {P}\n", value),
        (f"a: &x !!str {P}\nb: *x", value),
        (f'é: "☃😀"\n\n# é\na: {P}', value),
        (f"a: first\n  {P}\n", f"first {value}"),
        (f'a: |\n  {{"k": {J}}}\n', f'{{"k": {inner}}}\n'),
        (f"a: {JJ}", f'{{"k": {inner}}}'),
    ]


@pytest.mark.parametrize("value", NASTY)
def test_a_value_is_put_in_exactly_wherever_it_stands_and_no_line_moves(value: str) -> None:
    for text, expected in templates(value):
        made = put_in(text, {"a": value})
        assert load(made)[0]["a"] == expected, (text, made)
        assert made.count("\n") == text.count("\n")
    if len(value) < 500 and value:
        assert load(put_in(f'["x", {{ {P}: 1 }}]', {"a": value})) == [["x", {value: 1}]]
        assert load(put_in(f"- {P}\n- {P}: {P}", {"a": value})) == [[value, {value: value}]]


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize(
    "template", ['{{ secret("a") }}', '"{{ secret("a") }}"', '{{ secret("a") | flow }}', '{{ secret("a") | tojson }}']
)
def test_a_machine_gets_the_value_as_it_is(template: str, value: str, tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": f"machine:\n  sysctls:\n    before: x\n    a: {template}\n"})
    topology = stack()
    patches = [filled(patch, {"a": value}) for patch in rendered(topology, "w1", tmp_path)]
    text = generate_configuration(arguments(topology, topology.node("w1"), patches, placeholder_bundle()))
    assert load(text)[0]["machine"]["sysctls"] == {"before": "x", "a": value}


def test_a_number_or_a_flag_in_a_field_for_one_is_put_in_as_one() -> None:
    text = f"machine: {{network: {{interfaces: [{{interface: eth9, mtu: {P}, dhcp: {P}}}]}}, env: {{A: {P}}}}}\n"
    assert put_in(text, {"a": "9000"}) == text.replace(f"A: {P}", 'A: "9000"').replace(P, "9000")
    assert put_in(text, {"a": "9000, x: y"}) == text.replace(P, '"9000, x: y"')


def test_a_name_that_is_not_there_stays_as_it_is() -> None:
    assert put_in(f"a: {placeholder('other')}\n", {"a": "x"}) == f'a: "{placeholder("other")}"\n'


@pytest.mark.parametrize(
    "expression",
    [
        "s | upper", "s | lower", "s | length", "s | list", "s | first", "s | join('-')", "s | reverse",
        "s | replace('c', 'k')", "s | int", "s | title", "s | trim", "s | unique", "s | sort", "s | select",
        "s[:6]", "s[2]", "s[-1]", "s.upper()", "s.split('x')", "s.startswith('c')", "s + 'x'", "'x' + s", "s * 2",
        "s == 'x'", "'c' in s", "s < 'x'", "s in ['x']", "[s, s] | sort | first", "[s] | map('upper') | first",
        "{s: 1} | flow", "{'x': 1}[s]", "s is lower", "(s ~ 'x') | upper", "[[s]] == [[s]]", "1 if s == 'x' else 2",
        "include(s)", "secret(s)", "'x' | replace('x', s)", "'x' | indent(s | length)", "('a' ~ s) | length",
        "(s | flow) | length", "'x' is eq(s)", "[s] | select('eq', 'x') | list",
        "[{'a': s}] | map(attribute='a') | map('upper') | list", "[{'a': s}] | sort(attribute='a')",
    ],
)  # fmt: skip
def test_the_value_of_a_secret_cannot_be_looked_into_or_changed(tmp_path: Path, expression: str) -> None:
    template = f'a: 1\nb: {{% set s = secret("pw") %}}{{{{ {expression} }}}}\n'
    write(tmp_path, {"all/10-a.yaml.j2": template})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert finding.place.line == 2
    assert "looks into the value of a secret or changes it" in finding.message, finding.message
    assert finding.cure.startswith("write it as it is")
    assert placeholder("pw") not in str(finding)


def test_a_loop_over_a_secret_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": 'a: 1\n{% for c in secret("pw") %}\n{{ c }}\n{% endfor %}\n'})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert finding.place.line == 2 and "looks into the value of a secret" in finding.message


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("{{ s }}", 'p"w'),
        ("{{ 'user:' ~ s }}", 'user:p"w'),
        ("{{ s | flow }}", 'p"w'),
        ("{{ [s, 'x'] | join(':') }}", 'p"w:x'),
        ("{{ s | default('x') }}", 'p"w'),
        ("{{ s if s is defined else 'x' }}", 'p"w'),
        ("{{ [s] | first }}", 'p"w'),
        ("{% set t %}<{{ s }}>{% endset %}{{ t }}", '<p"w>'),
        ("{{ {'k': s} | flow | flow }}", '{"k": "p\\"w"}'),
    ],
)
def test_a_secret_can_be_written_beside_other_text(tmp_path: Path, expression: str, value: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": f'a: {{% set s = secret("pw") %}}{expression}\n'})
    (patch,) = rendered(stack(), "cp1", tmp_path)
    assert load(filled(patch, {"pw": 'p"w'}).text) == [{"a": value}]


def test_what_is_shown_of_a_placeholder_is_its_mark() -> None:
    assert shown(f"x {P} {J} y") == 'x <secret a> "<secret a>" y'
    assert is_mark("<secret a-b_c>") and not is_mark("<secret a> b")
    finding = Finding(Place("patches/all/10-a.yaml.j2", 1, (P, 1), P), P, P, value=P)
    assert placeholder("a") not in repr(shown_finding(finding))
    only = Finding(Place("patches/all/10-a.yaml.j2", 1, document=P), "m", "r")
    assert shown_finding(only).place.document == "<secret a>"


@pytest.mark.parametrize("name", ["a", "ab", "abc", "registryPassword", "x" * 60])
def test_a_placeholder_is_valid_base64_and_a_plain_word(name: str) -> None:
    made = placeholder(name)
    assert len(made) % 4 == 0 and made.isalnum() and shown(made) == f"<secret {name}>"


KIND = 'apiVersion: v1alpha1\nkind: UserVolumConfig\nname: {{ secret("a") }}\n'
FINDINGS = [
    (KIND, "Talos knows no document of kind UserVolumConfig; write UserVolumeConfig"),
    ('apiVersion: v1alpha1\nkind: {{ secret("a") }}\n', "Talos knows no document of kind <secret a>; "),
    (
        'machine:\n  env: {A: {{ secret("a") }}}\n  sysctl: {}\n',
        ":3 (cp1): machine.sysctl is not a key that Talos knows; write sysctls",
    ),
    ('machine:\n  env: {A: {{ secret("a") }}}\n  {{ secret("a") }}: {}\n', "<secret a>"),
    ('machine:\n  env: {A: {{ secret("a") }}}\n  time: {bootTimeout: soon}\n', "not soon"),
    ('machine:\n  env: {A: {{ secret("a") }}, A: 1}\n', "machine.env.A is set a second time"),
    ('machine:\n  env: {A: {{ secret("a") }}}\n  a: [\n', "is not YAML: "),
    ('machine:\n  env: {A: {{ secret("a") }}}\n  network: {hostname: other}\n', "machine.network.hostname is refused"),
]


@pytest.mark.parametrize(("text", "expected"), FINDINGS)
def test_a_finding_names_everything_that_does_not_come_from_the_secret(
    text: str, expected: str, tmp_path: Path
) -> None:
    write(tmp_path, {"node/cp1/70-a.yaml.j2": text})
    topology = stack()
    said = [str(each) for each in check_patches(topology, {"cp1": rendered(topology, "cp1", tmp_path)})]
    assert any(expected in each for each in said), said
    assert not any(P in each or "a secret value" in each for each in said)


def test_the_values_of_a_patch_are_in_no_representation() -> None:
    patch = filled(Patch("all/10-a.yaml.j2", f"a: {P}\n", frozenset({"a"})), {"a": "hunter2"})
    assert patch.text == 'a: "hunter2"\n' and "hunter2" not in repr(patch)
