from pathlib import Path

import pytest

from tests.machineconfig import golden
from tests.machineconfig.stacks import PATCHES, check_patches, render_cluster


@pytest.mark.parametrize("folder", [golden.FOLDER, golden.FINAL], ids=["patches", "final"])
def test_every_node_of_every_stack_has_its_golden_file_byte_for_byte(folder: Path) -> None:
    wanted = golden.everything()[folder]
    there = {path: path.read_text(encoding="utf-8") for path in folder.glob("*/*.yaml")}
    assert {path.relative_to(golden.ROOT) for path in there} == {path.relative_to(golden.ROOT) for path in wanted}
    for path, text in wanted.items():
        assert there[path] == text, f"{path.relative_to(golden.ROOT)}: `make golden` writes it anew"


def test_no_stack_of_the_repo_has_a_finding() -> None:
    for topology in golden.stacks().values():
        assert check_patches(topology, render_cluster(topology, root=PATCHES)) == ()


def test_only_the_node_with_the_card_loads_its_modules() -> None:
    nodes = {path.stem for path, text in golden.renderings().items() if "nvidia" in text.replace("nvidia-", "")}
    assert nodes == {"talos-gpu-01"}
