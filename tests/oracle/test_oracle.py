"""`machinery/` beside Talos's own library: the same documents, byte for byte; refused, taken and judged alike."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.oracle import corpus
from tests.oracle.compare import Difference, Make, Read, differences

LISTED: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "differences.yaml").read_text(encoding="utf-8"))
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


def test_what_is_listed_as_different_still_differs() -> None:
    for entry in LISTED:
        pairs: list[Make | Read] = [*corpus.patched("listed", *entry["patches"])]
        pairs += corpus.readings("listed", entry["patches"][0])
        assert entry["reason"] and differences(pairs), f"take it out of the list, it no longer differs: {entry}"
