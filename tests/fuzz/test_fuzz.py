"""Random topologies and patches: never a traceback, never a secret, never a machine that refuses what preview took."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import event, example, given
from hypothesis import strategies as st

from tests.fuzz import patches, topologies
from tests.fuzz.attempt import attempt
from tests.fuzz.profile import examples
from tests.machineconfig.stacks import BARE_METAL, OLD, PATCHES, raw, write

STACKS: list[dict[str, Any]] = [{}, BARE_METAL, {"versions": OLD}]


@examples(120)
@given(topologies.topologies())
def test_a_random_topology_is_refused_at_preview_or_taken_by_the_machines(topology: Any) -> None:
    event("taken" if attempt(topology, PATCHES) else "refused")


@examples(300)
@given(st.sampled_from(STACKS), patches.files())
@example({}, {"all/90-fuzz.yaml": '{"machine": {"$patch": "delete"}}'})
def test_a_random_patch_is_refused_at_preview_or_taken_by_the_machines(
    changes: dict[str, Any], files: dict[str, str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "patches"
        shutil.copytree(PATCHES, root)
        event("taken" if attempt(raw(**changes), write(root, files)) else "refused")
