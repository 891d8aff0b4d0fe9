"""`machinery/` beside Talos's own library: the same documents, byte for byte; refused, taken and judged alike."""

import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.oracle import corpus, structure
from tests.oracle.compare import Difference, Make, Read, differences
from tests.oracle.library import MACHINES, NEXT

LISTED: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "differences.yaml").read_text(encoding="utf-8"))
SEED = 66
COUNT = 2000
STEP = 20
MANY = int(os.environ.get("FUZZ_ORACLE") or 0)
"""How many random patches, new ones every time, `make fuzz-oracle` wants."""
_SHOWN = 20

Count = Callable[[str, object], None]


def compare(pairs: Sequence[Make | Read], record_property: Count) -> None:
    """Assert that nothing differs but what is listed, and note how much was compared."""
    record_property("pairs", len(pairs))
    found = [each for each in differences(pairs) if not is_listed(each)]
    shown = [f"{each.name}\n  {each.what}\n  {each.question.get('patches', 'the text alone')}" for each in found]
    assert not found, f"{len(found)} of {len(pairs)} differ:\n" + "\n".join(shown[:_SHOWN])


def is_listed(difference: Difference) -> bool:
    """Tell whether differences.yaml has it."""
    patches = difference.question.get("patches", [difference.question.get("read")])
    return any(entry["patches"] == patches for entry in LISTED)


def test_the_recorded_cases_are_the_librarys(record_property: Count) -> None:
    compare(corpus.recorded(), record_property)


def test_the_patches_of_all_stacks_give_what_they_give_in_the_library(record_property: Count) -> None:
    compare(corpus.of_stacks(), record_property)


def test_the_texts_of_the_tests_are_taken_and_refused_as_the_library_does(record_property: Count) -> None:
    compare(corpus.of_tests(), record_property)


def test_random_patches_are_taken_and_refused_as_the_library_does(record_property: Count) -> None:
    seed, count = (random.randrange(1 << 32), MANY) if MANY else (SEED, COUNT)
    compare(corpus.at_random(seed, count), record_property)


def test_the_oddities_of_yaml_urls_and_cel_mean_what_they_mean_in_the_library(record_property: Count) -> None:
    compare(corpus.of_oddities(1 if MANY else STEP), record_property)


def test_the_next_release_takes_what_machines_are_given_now(record_property: Count) -> None:
    pairs = [each for each in (*corpus.recorded(), *corpus.of_stacks()) if isinstance(each, Read)]
    texts = [replace(each, release=NEXT) for each in pairs if each.release == MACHINES[-1]]
    record_property("pairs", len(texts))
    # It writes and warns differently; machinery/ has no table of it yet.
    assert [each for each in differences(texts) if "refuses" in each.what] == []


@pytest.mark.parametrize("minor", structure.TABLES)
def test_a_table_is_what_the_library_says_of_its_types(minor: str) -> None:
    text = (structure.FOLDER / f"{minor}.json").read_text(encoding="utf-8")
    kinds = {name.removeprefix("document ") for name in json.loads(text)["structures"]}
    assert structure.written(structure.table(minor, {"v1alpha1", *kinds})) == text, "make structure"


def test_what_is_listed_as_different_still_differs() -> None:
    for entry in LISTED:
        pairs: list[Make | Read] = [*corpus.patched("listed", *entry["patches"])]
        pairs += corpus.readings("listed", entry["patches"][0])
        assert entry["reason"] and differences(pairs), f"take it out of the list, it no longer differs: {entry}"
