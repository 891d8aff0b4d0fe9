"""The golden renderings: every patch of every node of every stack of the repo, byte for byte."""

from pathlib import Path

from ruamel.yaml import YAML

from machineconfig import render_cluster
from tests.machineconfig.stacks import PATCHES, facts
from topology import Topology, load

ROOT = PATCHES.parent
FOLDER = ROOT / "tests" / "golden" / "render"


def stacks() -> dict[str, Topology]:
    """The topologies of the repo's stack files, by stack."""
    found = {}
    for path in sorted(ROOT.glob("Pulumi.*.yaml")):
        config = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))["config"]
        found[path.name.split(".")[1]] = load(config["talos-stacks:cluster"])
    return found


def renderings() -> dict[Path, str]:
    """What every golden file must hold. A secret stands in it as a mark."""
    files = {}
    for stack, topology in stacks().items():
        known = {node.name: facts(topology, node) for node in topology.nodes}
        rendered = render_cluster(topology, known, root=PATCHES, secret=lambda name: f"<secret {name}>")
        for name, patches in rendered.items():
            text = "".join(f"---\n# patches/{patch.source}\n{patch.text}" for patch in patches)
            files[FOLDER / stack / f"{name}.yaml"] = text
    return files
