"""The house has rooms; this walks the imports of every file and holds it to what its room may use."""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLUGIN_PROTOCOL = {"grpc", "google", "pulumi"}
ROOMS = {
    "findings": {"findings"},
    "versioning": {"versioning"},
    "topology": {"topology", "findings", "versioning", "pydantic", "pydantic_core"},
    "machinery": {"machinery", "findings", "versioning", "yaml", "cryptography"},
    "stackfile": {"stackfile", "findings", "machinery", "engine"},
    "machineconfig": {"machineconfig", "findings", "machinery", "topology", "jinja2"},
    "kubeapi": {"kubeapi", "httpx"},
    "provider": {"provider", "kubeapi", "talosapi", "versioning", "grpc", "pulumi"},
    "talosapi": {"talosapi", "grpclib", "h2", "yaml", "google", "cryptography", "grpc_tools"},
    "engine": {"engine"},
    "cli": {"cli", "engine", "findings", "stackfile", "topology", "machineconfig", "machinery", "talosapi"},
    "components": {"components", "findings", "topology", "machineconfig", "talosapi", "versioning", "pulumi"},
    "lab": {
        "lab",
        "engine",
        "stackfile",
        "machinery",
        "talosapi",
        "grpclib",
        "h11",
        "multidict",
        "cryptography",
        "google",
        "ruamel",
        "yaml",
    },
    "bench": {"bench", "findings", "engine", "lab", "machineconfig", "topology", "yaml"},
    "__main__.py": {"components", "pulumi"},
}
ALSO = {
    # Speaks to the provider plugin as the engine does.
    "cli/plugin.py": PLUGIN_PROTOCOL,
    "bench/floors.py": PLUGIN_PROTOCOL,
    # Serves the engine.
    "engine/languagehost.py": PLUGIN_PROTOCOL,
    # The SDK of a component is its own; another platform's is nobody's.
    "components/machine_secrets.py": {"pulumiverse_talos"},
    "components/images.py": {"pulumiverse_talos"},
    "components/machine_config.py": {"pulumiverse_talos"},
    "components/bring_up.py": {"pulumiverse_talos"},
    "components/cluster.py": {"pulumiverse_talos"},
    "components/nodes/proxmox.py": {"pulumi_proxmoxve"},
    # The relay answers the provider in a machine's place, so it has a certificate and speaks its protocol.
    "components/bootstrap_relay.py": {"cryptography", "grpclib"},
    # The stand-ins take their properties from the SDKs.
    "lab/standin": {"pulumiverse_talos", "pulumi_proxmoxve", *PLUGIN_PROTOCOL},
}
STARTS = {
    # Which rooms a room may start as a process, beside its own: imports say nothing of that.
    "lab": {"engine", "cli", "provider"},
    "bench": {"engine", "cli", "lab"},
}
ASSEMBLY = {"components/cluster.py", "components/plan.py"}


def files() -> list[Path]:
    found = [ROOT / "__main__.py"]
    for room in ROOMS:
        found += (ROOT / room).rglob("*.py") if (ROOT / room).is_dir() else []
    return sorted(path for path in found if "gen" not in path.parts)


def imports(path: Path) -> Iterator[str]:
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, f"{path}: imports are absolute"
            yield str(statement.module)


_ROOM = "|".join(room for room in ROOMS if "." not in room)
_PROGRAM = re.compile(
    rf"(?P<module>{_ROOM})(\.\w+)+$"  # "lab.world"
    rf"|(\S*/)?(?P<file>{_ROOM})/\S*\.py$"  # "lab/enter.py"
    rf"|.*(?<!\.venv/bin/python) -m (?P<command>{_ROOM})\b",  # "python -m lab", but for what people are told to type
    re.DOTALL,
)


def programs(path: Path) -> Iterator[str]:
    """The rooms of the modules and files that a file names as text, which is how a process of theirs is started."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Constant(value=str(text)) if found := _PROGRAM.match(text):
                yield found["module"] or found["file"] or found["command"]
            case ast.BinOp(
                left=ast.BinOp(op=ast.Div(), right=ast.Constant(value=str(folder))),
                op=ast.Div(),
                right=ast.Constant(value=str(file)),
            ) if folder in ROOMS and file.endswith(".py"):
                yield folder
            case ast.List(elts=words) | ast.Tuple(elts=words):
                yield from _after_m([word.value for word in words if isinstance(word, ast.Constant)])


def _after_m(words: list[object]) -> Iterator[str]:
    for option, word in pairwise(words):
        if option == "-m" and word in ROOMS:
            yield str(word)


def allowed(name: str) -> set[str]:
    room = name.split("/", maxsplit=1)[0]
    extra = [packages for place, packages in ALSO.items() if name == place or name.startswith(f"{place}/")]
    return ROOMS[room].union(*extra)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_what_its_room_may_use(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    strangers = {
        module
        for module in imports(path)
        if module.split(".")[0] not in allowed(name) | sys.stdlib_module_names | {"__future__"}
    }
    assert not strangers, f"{name} imports {sorted(strangers)}, which its room may not"


def test_no_room_may_use_what_it_does_not() -> None:
    unused = {place: packages - _used(place) - {place} for place, packages in (ROOMS | ALSO).items()}
    assert not {place: packages for place, packages in unused.items() if packages}


def _used(place: str) -> set[str]:
    names = {path: str(path.relative_to(ROOT)) for path in files()}
    inside = [path for path, name in names.items() if name == place or name.startswith(f"{place}/")]
    return {module.split(".")[0] for path in inside for module in imports(path)}


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_starts_no_process_of_another_room(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    room = name.split("/", maxsplit=1)[0]
    strangers = set(programs(path)) - STARTS.get(room, set()) - {room}
    assert not strangers, f"{name} starts {sorted(strangers)}, which its room may not"


@pytest.mark.parametrize(
    "text",
    [
        '[sys.executable, "-m", "lab.engine"]',
        '["python3", "-P", "-m", "lab", *arguments]',
        '[sys.executable, str(ROOT / "lab" / "enter.py")]',
        '[sys.executable, f"{ROOT}/lab/enter.py"]',
        'f"{python} -m lab.world"',
        'runpy.run_module("lab.world")',
        'importlib.import_module("lab.world")',
    ],
)
def test_a_process_of_the_lab_is_noticed(text: str, tmp_path: Path) -> None:
    written = tmp_path / "written.py"
    written.write_text(f"command = {text}\n")
    assert list(programs(written)) == ["lab"]


def test_a_sentence_about_the_lab_is_no_process(tmp_path: Path) -> None:
    written = tmp_path / "written.py"
    written.write_text('print("run `.venv/bin/python -m lab run mine`, in the lab")\n')
    assert not list(programs(written))


@pytest.mark.parametrize("path", sorted((ROOT / "components").glob("*.py")), ids=lambda path: path.name)
def test_only_the_assembly_knows_the_platforms(path: Path) -> None:
    known = {module for module in imports(path) if module.startswith("components.nodes")} - {"components.nodes.shape"}
    assert not known or f"components/{path.name}" in ASSEMBLY


@pytest.mark.parametrize("room", ["topology", "machinery", "findings", "versioning"])
def test_the_pure_rooms_open_no_file_and_no_connection(room: str) -> None:
    forbidden = {"os", "socket", "subprocess", "urllib.request", "http.client", "pathlib"}
    for path in (ROOT / room).rglob("*.py"):
        if path.name not in {"schema.py", "__main__.py"}:
            assert not forbidden & set(imports(path)), path


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in {"lab", "bench"}])
def test_the_program_uses_nothing_that_windows_has_not(room: str) -> None:
    modules = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
    functions = {
        "O_CLOEXEC",
        "O_NOFOLLOW",
        "fchmod",
        "fork",
        "getuid",
        "killpg",
        "mkfifo",
        "setsid",
        "statvfs",
        "uname",
    }
    guarded = {"engine/locks.py"}  # takes no turns on Windows
    for path in files():
        if path.relative_to(ROOT).parts[0] == room and str(path.relative_to(ROOT)) not in guarded:
            used = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
            assert not modules & set(imports(path)) and not functions & used, path


def test_every_decision_has_a_number_of_its_own() -> None:
    numbers = [path.name[:4] for path in sorted((ROOT / "docs/adr").glob("[0-9]*.md"))]
    assert not [number for number, following in pairwise(numbers) if number == following]
