"""The golden files: every patch and the final configuration of every node of every stack of the repo, byte for byte."""

from pathlib import Path

from ruamel.yaml import YAML

from machineconfig import Patch
from machineconfig.generation import arguments
from machineconfig.placeholder import all_shown, placeholder_bundle, shown
from machinery import generate_configuration
from tests.machineconfig.stacks import PATCHES, render_cluster
from topology import Topology, load

ROOT = PATCHES.parent
FOLDER = ROOT / "tests" / "golden" / "render"
FINAL = ROOT / "tests" / "golden" / "final"


def stacks() -> dict[str, Topology]:
    """The topologies of the repo's stack files, by stack."""
    found = {}
    for path in sorted(ROOT.glob("Pulumi.*.yaml")):
        config = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))["config"]
        found[path.name.split(".")[1]] = load(config["talos-stacks:cluster"])
    return found


def everything() -> dict[Path, dict[Path, str]]:
    """What every golden file must hold, by the folder of its kind. A secret stands in it as a mark."""
    return {FOLDER: renderings(), FINAL: finals()}


def renderings() -> dict[Path, str]:
    """The patches of each node in one file."""
    files = {}
    for stack, topology in stacks().items():
        for name, patches in patches_of(topology).items():
            text = "".join(f"---\n# patches/{patch.source}\n{shown(patch.text)}" for patch in patches)
            files[FOLDER / stack / f"{name}.yaml"] = text
    return files


def finals() -> dict[Path, str]:
    """The final configuration of each node."""
    files = {}
    for stack, topology in stacks().items():
        for name, patches in patches_of(topology).items():
            args = arguments(topology, topology.node(name), patches, placeholder_bundle())
            text = all_shown(generate_configuration(args))
            files[FINAL / stack / f"{name}.yaml"] = text
    return files


def patches_of(topology: Topology) -> dict[str, tuple[Patch, ...]]:
    """Each node's patches."""
    return render_cluster(topology, root=PATCHES)
