"""A stranger's template: every known way out of Jinja's sandbox is shut, and every one comes to an end."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from findings import Finding
from machineconfig.bounds import LARGEST, LONGEST, STEPS
from machineconfig.filters import FILTERS, flow
from machineconfig.sandbox import Sandbox
from tests.machineconfig.stacks import RenderingError, check_patches, refused, render_cluster, rendered, stack, write

ALWAYS = 5.0
"""Seconds for what is refused: it takes under one, and machines that run tests are busy."""

INTERNAL = [
    # From Jinja's advisories and release notes, and from what circulates as ways out of template sandboxes.
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ lipsum.__globals__ }}",
    "{{ lipsum() }}",
    "{{ dict(a=1).__class__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''.__class__.mro()[1].__subclasses__() }}",
    "{{ ''['__class__'] }}",
    "{{ ''['__cla' ~ 'ss__'] }}",
    "{{ ''['\\x5f\\x5fclass\\x5f\\x5f'] }}",
    "{{ '' | attr('__class__') }}",
    "{{ [''] | map(attribute='__class__') | list }}",
    "{{ [''] | map('attr', '__class__') | list }}",
    "{{ [''] | map(attribute='format') | list }}",
    "{{ [''] | sum(attribute='__class__') }}",
    "{{ [''] | join(',', attribute='__class__') }}",
    "{{ [node] | groupby('__class__') }}",
    "{{ [''] | selectattr('__class__') | list }}",
    "{{ '{0.__class__}'.format(node) }}",
    "{{ '{a.__class__}'.format_map({'a': node}) }}",
    "{{ ('{0.__class__}' | attr('format'))(node) }}",
    "{{ ['{0.__class__}'] | map('format', node) | list }}",
    "{% set f = '{0.__class__}'.format %}{{ f(node) }}",
    "{% set f = '{0.__class__}'['format'] %}{{ f(node) }}",
    "{{ '%s' | format(node) }}",
    "{{ '%(a)s' % {'a': node} }}",
    "{{ {'a b': 1, 'onclick=x': 2} | xmlattr }}",
    "{{ range.__init__ }}",
    "{{ secret.__globals__ }}",
    "{{ secret.__self__ }}",
    "{{ include.__func__.__globals__ }}",
    "{{ secret['__self__'] }}",
    "{{ node.__class__ }}",
    "{{ node.model_dump() }}",
    "{{ node.model_copy() }}",
    "{{ node['model_fields'] }}",
    "{{ node.copy }}",
    "{{ cluster.model_config }}",
    "{{ cluster.model_construct() }}",
    "{{ cluster.model_validate_json('1') }}",
    "{{ cluster.parse_file('/etc/passwd') }}",
    "{{ cluster.site_of(node) }}",
    "{{ facts.machine.__dict__ }}",
    "{{ facts['__dict__'] }}",
    "{{ (node.data | map('upper')).gi_frame }}",
    "{{ (x for x in y).gi_frame }}",
    "{% for i in [1] %}{{ loop._iterable }}{% endfor %}",
    "{% for i in [1] %}{{ loop.__class__ }}{% endfor %}",
    "{% for i in [1] %}{{ loop['_iterator'] }}{% endfor %}",
    "{% macro m() %}{% endmacro %}{{ m.__globals__ }}",
    "{% macro m() %}{{ caller.__globals__ }}{% endmacro %}{% call m() %}{% endcall %}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{% block b %}{{ self.b() }}{% endblock %}",
    "{% set ns = namespace(x=1) %}{% set ns.x = 2 %}",
    "{% include '10-a.yaml.j2' %}",
    "{% include ['/etc/passwd'] ignore missing %}",
    "{% import '/etc/passwd' as p %}",
    "{% from '/etc/passwd' import p %}",
    "{% extends '/etc/passwd' %}",
    "{% filter upper %}a{% endfilter %}",
    "{{ node.data.clear() }}",
    "{{ node.data.update({'a': 1}) }}",
    "{{ node.data.pop('a') }}",
    "{{ node.data.setdefault('a', 1) }}",
    "{{ [].append(1) }}",
    "{{ cluster.nodes.__add__ }}",
    "{{ 'a'.encode() }}",
    "{{ 'a'.join(['b']) }}",
    "{{ 'a'.center(10) }}",
    "{{ 'a'.zfill(10) }}",
    "{{ 'a'.translate({}) }}",
    "{{ node.address.__reduce__() }}",
    "{{ node.address._ip }}",
    "{{ cluster.network.nodes[0].hosts() }}",
    "{{ secret(*['a']) }}",
    "{{ include(**{'name': 'a'}) }}",
    "{{ (secret)('a')('b') }}",
    "{{ [secret][0]('a') }}",
    "{{ environment }}",
    "{{ context }}",
    "{{ config }}",
    "{{ request }}",
    "{{ secret }}",
    "{{ facts }}",
    "{{ cluster ~ '' }}",
    "{{ facts ~ '' }}",
    "{{ range ~ '' }}",
    "{{ [facts] | join(',') }}",
    "{{ facts | string }}",
    "{{ [facts] | flow }}",
    "{{ secret | flow }}",
    "{{ node.data | pprint }}",
    "{{ '<' | safe }}",
    "{{ [] is sameas [] }}",
    "{{ node is callable }}",
    "{{ [''] | map('each item', -1) | list }}{{ x }}",
]
"""Each asks for something that is no plain value, or says something that no patch can."""

CHANCE = ["{{ range(9) | random }}", "{{ [1, 2] | random }}", "{{ 'ab' | random }}", "{{ lipsum(n=1) }}"]

ENDLESS = [
    "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
    "{% for i in range(999) %}{% for j in range(999) %}{% for k in range(999) %}{% endfor %}{% endfor %}{% endfor %}",
    "{% for i in range(10 ** 9) if i < 0 %}{% endfor %}",
    "{{ 'x' * 10 ** 9 }}",
    "{{ [0] * 10 ** 9 }}",
    "{{ (10 ** 9) * 'x' }}",
    "{{ 9 ** 9 ** 9 ** 9 ** 9 }}",
    "{{ 2 ** 100000000 }}",
    "{{ range(10 ** 9) | list }}",
    "{{ range(10 ** 9) | sum }}",
    "{{ range(10 ** 30) | list }}",
    "{{ range(10 ** 9) | map('string') | list }}",
    "{{ range(10 ** 9) | select('odd') | first }}",
    "{{ range(10 ** 9) | reverse | list }}",
    "{{ range(10 ** 9) | sort }}",
    "{{ range(10 ** 9) | join }}",
    "{{ range(10 ** 9) | flow }}",
    "{{ range(10 ** 9) | batch(3) | list }}",
    "{{ 10 ** 8 in range(10 ** 9) | list }}",
    "{{ [range(10 ** 9)] == [range(10 ** 9)] }}",
    "{{ 'a' | indent(10 ** 9) }}",
    "{{ 'a\n' * 1000 | indent('x' * 100000) }}",
    "{{ ('a\n' * 100000) | indent('x' * 900) }}",
    "{{ 'a' | center(10 ** 9) }}",
    "{{ 'a' | wordwrap(1) }}",
    "{{ ('a' * 10 ** 6) | replace('', 'b' * 10 ** 6) }}",
    "{{ range(10 ** 5) | join('x' * 10 ** 6) }}",
    "{{ [1] | tojson(indent=10 ** 9) }}",
    "{{ 1.5 | round(10 ** 9, 'ceil') }}",
    "{{ '%99999999d' % 1 }}",
    "{{ '%*d' % (99999999, 1) }}",
    "{{ '{:>99999999}'.format(1) }}",
    "{% set a = 'x' %}" + "{% set a = a ~ a %}" * 64 + "{{ a | length }}",
    "{% set a = 'x' %}" + "{% set a = a + a %}" * 64 + "{{ a | length }}",
    "{% set a = ['x'] %}" + "{% set a = a + a %}" * 64 + "{{ a | length }}",
    "{% set a = 9 %}" + "{% set a = a * a %}" * 64 + "{{ a }}",
    "{% set a %}x{% endset %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 64 + "{{ a | length }}",
    "{% set a = ['x'] %}" + "{% set a = [a, a] %}" * 64 + "{{ a | flow }}",
    "{% set a = ['x'] %}" + "{% set a = [a, a] %}" * 64 + "{{ a == [a] }}",
    "{% set a = ('x',) %}" + "{% set a = (a, a) %}" * 64 + "{{ {a: 1} | length }}",
    "{% set a = ('x',) %}" + "{% set a = (a, a) %}" * 64 + "{{ {'b': 1}[a] }}",
    "{% set a = {'x': 1} %}" + "{% set a = {'x': a, 'y': a} %}" * 64 + "{{ a | flow }}",
    "{% set a = ('x',) %}" + "{% set a = (a, a) %}" * 64 + "{{ [a] | unique | list }}",
    "{% set a = [] %}" + "{% set a = [a] %}" * 3000 + "{{ a | flow }}",
    "{% for i in range(1000) recursive %}{{ loop([1]) }}{% endfor %}",
    "{% for a in range(9000) %}{{ node.name }}{% for b in range(9000) %}{{ facts.no_proxy }}{% endfor %}{% endfor %}",
    "{% for a in range(90000) %}{{ facts.no_proxy is string and cluster.nodes == cluster.nodes }}{% endfor %}",
    "{% set b = 'x' * 4000000 %}{% for a in range(90000) %}{{ 'y' in b }}{% endfor %}",
    "{% set b = 'x' * 4000000 %}{% for a in range(90000) %}{% if b[1:] %}{% endif %}{% endfor %}",
    "{% set b = 'x' * 4000000 %}{% for a in range(90000) %}{% if b.upper() %}{% endif %}{% endfor %}",
    "{% set b = 'x ' * 2000000 %}{% for a in range(90000) %}{% if b.split() %}{% endif %}{% endfor %}",
    "{% set b = 'x' * 4000000 %}{% for a in range(90000) %}{{ b }}{% endfor %}",
    "{% set b = 'x' * 4000000 %}{% for a in range(90000) %}{{ b | length }}{% endfor %}",
    "{% for a in range(90000) %}" + "x" * 9000 + "{% endfor %}",
    "{% for h in cluster.network.nodes[0] %}{% for i in cluster.network.nodes[0] %}{% for j in range(9) %}"
    "{{ facts.cert_sans | length }}{% endfor %}{% endfor %}{% endfor %}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{{ " + "1 + " * 20000 + "1 }}",
    "{{ " + "not " * 20000 + "1 }}",
    "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "{% for a in [1] %}" * 40 + "{% endfor %}" * 40,
    "{{ " + "9" * 100000 + " }}",
    "{{" * 60000,
    "a: {{ x }}" + " {{" + " " * 100000,
    "{{ 1 }}" * (LONGEST // 3),
]


@pytest.mark.parametrize("template", INTERNAL)
def test_what_is_no_plain_value_is_refused_with_its_line_and_a_cure(tmp_path: Path, template: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": f"machine:\n  env:\n    A: 1 {template}\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert (finding.place.file, finding.place.line) == ("patches/all/10-a.yaml.j2", 3)
    assert finding.message
    assert finding.cure
    assert " object at " not in str(finding)
    assert "hunter2" not in str(finding)


@pytest.mark.parametrize("template", CHANCE)
def test_nothing_is_left_to_chance(tmp_path: Path, template: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": f"a: {template}\n"})
    assert refused(stack(), "cp1", tmp_path)[0].place.line == 1


@pytest.mark.parametrize("template", ENDLESS)
def test_what_would_take_too_long_or_too_much_room_is_refused_at_once(tmp_path: Path, template: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": template})
    start = time.process_time()
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert time.process_time() - start < ALWAYS
    assert finding.cure
    assert len(str(finding)) < 2000


def test_what_takes_too_long_is_tried_for_one_node_and_said_for_all(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": "a: 1\n{% for i in range(10 ** 9) %}\n{% endfor %}\n"})
    (finding,) = every_finding(tmp_path)
    assert str(finding) == (
        "patches/all/10-a.yaml.j2:2 (cp1, w1): for i in range(10 ** 9) takes more than the "
        f"{STEPS} steps that a patch may have; make its loops and texts shorter; what takes much working out becomes a "
        "property in context.py"
    )


def every_finding(root: Path) -> tuple[Finding, ...]:
    topology = stack()
    with pytest.raises(RenderingError) as error:
        render_cluster(topology, root=root)
    return error.value.findings


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ node.name.upper() }}", "CP1"),
        ("{{ node.name[:1] ~ '-' ~ 7 }}", "c-7"),
        ("{{ 'a-b'.split('-') | flow }}", '["a", "b"]'),
        ("{{ cluster.nodes | map(attribute='name') | join(', ') }}", "cp1, w1"),
        (
            "{{ cluster.nodes | selectattr('role', 'equalto', 'worker') | map(attribute='name') | list | flow }}",
            '["w1"]',
        ),
        ("{{ cluster.nodes | rejectattr('is_controlplane') | list | length }}", "1"),
        ("{{ cluster.nodes | sort(attribute='name', reverse=true) | map(attribute='name') | first }}", "w1"),
        ("{{ [3, 1, 2] | sort | join }}", "123"),
        ("{{ [1, 2] | sum }}", "3"),
        ("{{ 2.5 | round | int }}", "2"),
        ("{{ 2.41 | round(1, 'ceil') }}", "2.5"),
        ("{{ {'b': 1, 'a': 2} | dictsort | first | flow }}", '["a", 2]'),
        ("{{ {'a': {'b': 1}}.a.b }}", "1"),
        ("{{ {'a': 1}.get('b', 2) }}", "2"),
        ("{{ cluster.xyz is defined }}", "false"),
        ("{{ cluster.xyz | default('none') }}", "none"),
        ("{{ node.address.version }}", "4"),
        ("{{ 'a.b' | replace('.', '_') }}", "a_b"),
        ("{% for i in range(2) %}{{ loop.index }}{{ ',' if not loop.last }}{% endfor %}", "1,2"),
        ("{% for k, v in {'a': 1}.items() if v %}{{ k }}{{ v }}{% endfor %}", "a1"),
        ("{% set x %}y{{ 1 }}{% endset %}{{ x }}", "y1"),
        ("{% with a = 1 %}{{ a }}{% endwith %}", "1"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{{ 'l\n\nm' | indent(2) }}", "l\n\n  m"),
        ("{{ 'l\nm' | indent(2, true) }}", "  l\n  m"),
        ("{{ 1 if 0 < node.cores <= 4 else 2 }}", "1"),
        ("{{ '10' | int + 1 }}", "11"),
        ("{{ ['b', 'a', 'b'] | unique | join }}", "ba"),
        ("{{ 'a' in ['a'] and 'ell' in 'hello' and 5 is odd and 'x' is string }}", "true"),
    ],
)
def test_what_patches_need_is_there(tmp_path: Path, template: str, text: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": f"a: |\n  >{template}\n"})
    assert rendered(stack(), "cp1", tmp_path)[0].text == f"a: |\n  >{text}\n"


@pytest.mark.parametrize(
    ("template", "message", "cure"),
    [
        ("{{ 1 | zq }}", "zq is no filter", "a template has abs, capitalize, "),
        (
            "{{ secret('a') | b64encode }}",
            "b64encode is no filter",
            "write the value under stringData, which is no base64",
        ),
        ("{{ node | to_yaml }}", "to_yaml is no filter", "write it with | flow"),
        ("{{ [] | lenght }}", "lenght is no filter (near it: length)", "a template has "),
        ("{{ 1 is definde }}", "definde is no test (near it: defined)", "a template has "),
        ("{{ node.x() }}", "x(...) cannot be called in a template", "a template calls secret, include, range, "),
        ("{{ node._name }}", "_name is not for templates", "read what the value itself has"),
        ("{% macro a() %}{% endmacro %}", "macro is not allowed in a patch", "write it out; "),
        ("{% include 'a' %}", "include reads another file as a template", "take {{ include("),
    ],
)
def test_the_finding_says_what_to_write_instead(tmp_path: Path, template: str, message: str, cure: str) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": f"a: {template}\n"})
    (finding,) = refused(stack(), "cp1", tmp_path)
    assert finding.message == message
    assert finding.cure.startswith(cure)


def test_a_template_that_is_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml.j2": "#" * (LONGEST + 1)})
    assert (
        refused(stack(), "cp1", tmp_path)[0].message
        == f"is longer than the {LONGEST} characters that a template may have"
    )


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"all/10-a.yaml": "#" * (LARGEST + 1)})
    assert refused(stack(), "cp1", tmp_path)[0].message == f"is larger than {LARGEST} bytes"


@pytest.mark.parametrize("name", ["all/10-a.yaml", "all/10-a.yaml.j2", "all", "node", "node/cp1"])
@pytest.mark.parametrize("where", ["outside", "project/.git"])
def test_a_link_out_of_the_project_is_refused_and_not_read(tmp_path: Path, name: str, where: str) -> None:
    outside, patches = tmp_path / where, tmp_path / "project" / "patches"
    write(outside, {"10-a.yaml": "hunter2: 1\n", "cp1/10-a.yaml": "hunter2: 1\n"})
    (patches / name).parent.mkdir(parents=True)
    (patches / name).symlink_to(outside if "." not in name else outside / "10-a.yaml")
    findings = refused(stack(), "cp1", patches)
    assert str(findings[0]).startswith(f"patches/{name}: is a link out of the project; ")
    assert "hunter2" not in "".join(map(str, findings))


@pytest.mark.parametrize("name", ["{root}/manifests/a", "/etc/hostname", "../a", "manifests/../../a", "manifests/out"])
def test_only_files_below_the_patches_are_included(tmp_path: Path, name: str) -> None:
    root = tmp_path / "patches"
    asked = name.format(root=root)
    write(root, {"manifests/a": "x", "all/10-a.yaml.j2": f'a: {{{{ include("{asked}") }}}}\n'})
    write(tmp_path, {"a": "hunter2"})
    (root / "manifests/out").symlink_to(tmp_path / "a")
    (finding,) = refused(stack(), "cp1", root)
    assert "includes a file outside patches/" in finding.message or "by its whole path" in finding.message
    assert "hunter2" not in str(finding)


BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" if n else "a0: &a0 [x]\n" for n in range(12))


@pytest.mark.parametrize("text", [BOMB, "a: !!python/object/apply:os.system [id]\n", "a: &a [*a]\n", "[" * 100000])
def test_yaml_that_would_grow_or_run_is_refused_at_once(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"all/10-a.yaml": text})
    topology = stack()
    start = time.process_time()
    findings = check_patches(topology, {"cp1": rendered(topology, "cp1", tmp_path)})
    assert time.process_time() - start < ALWAYS
    assert findings


WORDS = """node cluster facts secret include range loop self x y . [ ] ( ) { } , : | ~ + - * / % ** == in not and or if
    else is < for i name data nodes network upper format attr map join list flow indent sort sum random __class__
    __globals__ '__init__' 'a' 1 99999999 0 [0] 'x'*9 range(9) range(99999999)"""
VALUES = """node cluster facts node.name node.data cluster.nodes cluster.network range(9) range(10**7) 'ab' 9 1.5 none x
    [] {} [1,'a'] secret('a') secret include node.address ('a','b') {'k':[1]} loop self 'x'*99999"""
SHAPES = """({0})~({1}) ({0})+({1}) ({0})*({1}) ({0})**({1}) [{0},{1}] {{'k':{0}}} ({0}).name ({0}).__class__ ({0})[{1}]
    ({0})[1:] ({0})==({1}) ({0})in({1}) ({0})|flow ({0})|join({1}) ({0})|list ({0})|map('upper')|list ({0})|sort
    ({0})|replace({1},'b') ({0})|indent({1}) ({0})|sum ({0})|length ({0})|string ({0})|first ({0})|default({1})
    ({0})if({1})else(1) ({0})|map(attribute={1})|list ({0}).items() ({0}).upper() ({0})|int ({0})|round({1})"""
BLOCKS = (
    "{{{{ {} }}}}",
    "{{% set x = {} %}}",
    "{{% for i in {} %}}{{{{ i }}}}{{% endfor %}}",
    "{{% if {} %}}y{{% endif %}}",
)


def made_up(chance: random.Random) -> str:
    return "".join(chance.choice(BLOCKS).format(expression(chance, 4)) for _ in range(chance.randint(1, 4)))


def expression(chance: random.Random, depth: int) -> str:
    if chance.random() < 0.05:
        return " ".join(chance.choice(WORDS.split()) for _ in range(chance.randint(1, 9)))
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(VALUES.split())
    return chance.choice(SHAPES.split()).format(expression(chance, depth - 1), expression(chance, depth - 1))


def test_whatever_is_written_ends_soon_in_a_patch_or_in_findings(tmp_path: Path) -> None:
    chance = random.Random(7)
    start, patches = time.process_time(), 0
    for _ in range(800):
        write(tmp_path, {"all/10-a.yaml.j2": made_up(chance)})
        try:
            texts = [patch.text for patch in rendered(stack(), "cp1", tmp_path)]
        except RenderingError as error:
            texts = [str(error)]
        else:
            patches += 1
        assert not any(" object at 0x" in text or "<class" in text for text in texts)
    assert time.process_time() - start < 60
    assert patches > 20


HASHED = """
import sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.machineconfig.stacks import rendered, stack
print([patch.text for patch in rendered(stack(data={"a": {"z": 1, "b": [2]}}), "cp1", Path(sys.argv[2]))])
"""


def test_the_same_bytes_come_out_in_every_run(tmp_path: Path) -> None:
    template = "a: {{ cluster.data | flow }}\nb: {{ cluster.nodes | map(attribute='name') | list | flow }}\n"
    write(tmp_path, {"all/10-a.yaml.j2": template})
    command = [sys.executable, "-c", HASHED, str(Path(__file__).parents[2]), str(tmp_path)]
    runs = {
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True).stdout
        for seed in ("0", "1", "2")
    }
    assert len(runs) == 1


def test_a_set_is_sorted_wherever_it_is_looked_at() -> None:
    names = {f"n{number}" for number in range(50)}
    assert flow(names) == flow(sorted(names))
    text = (
        Sandbox().from_string("{{ a | join }}{% for b in a %}{{ b }}{% endfor %}{{ a | list | first }}").render(a=names)
    )
    assert text == "".join(sorted(names)) * 2 + "n0"
    assert "random" not in FILTERS
