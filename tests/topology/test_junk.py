"""Whatever stands in a stack file, the answer is a topology or faults: never a traceback of another kind."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findings import written
from tests.topology.stacks import valid
from topology import Topology, TopologyError, load

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["192.168.1.121", "10.0.0.0/8", "fd00::/8", "v1.13.9", "worker", "controlplane", "/dev/sda"])
)
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
)
BASES = st.sampled_from(["bare-metal", "every-key", "three-sites", "routed-sites", "dual-stack", "single-node"])
EXAMPLES = settings(max_examples=250, deadline=None)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place in a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, each in inner for place in places(each, (*at, key)))]


def put(value: Any, at: tuple[Any, ...], junk: Any) -> Any:
    """Put junk into a place, if it is still there."""
    if not at:
        return junk
    if isinstance(value, dict) or (isinstance(value, list) and isinstance(at[0], int) and at[0] < len(value)):
        value[at[0]] = put(value[at[0]] if at[0] in value or isinstance(value, list) else {}, at[1:], junk)
    return value


def answer(raw: Any) -> None:
    """Load, and check the form of what comes back."""
    try:
        assert isinstance(load(raw), Topology)
    except TopologyError as error:
        assert error.findings
        assert len(set(error.findings)) == len(error.findings)
        for fault in error.findings:
            line = str(fault)
            assert line.isprintable() and line.encode() and fault.place.path and fault.message and fault.cure
            assert not any(word in line for word in ("pydantic", "Input should", "Value error", "validation error"))


@EXAMPLES
@given(JUNK)
def test_junk_gives_faults(raw: Any) -> None:
    answer(raw)


@EXAMPLES
@given(st.data(), BASES)
def test_junk_in_any_places_of_a_valid_stack_gives_faults_or_a_topology(data: st.DataObject, base: str) -> None:
    raw = valid(base)
    for place in data.draw(st.lists(st.sampled_from(places(raw)), min_size=1, max_size=6)):
        raw = put(raw, place, data.draw(JUNK))
    answer(raw)


@EXAMPLES
@given(st.data(), BASES, st.text(max_size=10), JUNK)
def test_junk_under_new_keys_gives_faults(data: st.DataObject, base: str, key: str, junk: Any) -> None:
    raw = valid(base)
    answer(put(raw, (*data.draw(st.sampled_from(places(raw))), key), junk))


def test_keys_that_are_no_text_give_faults() -> None:
    for key in (1, 1.5, None, True, ("a", 1)):
        for place in ((), ("network",), ("images",), ("nodes", 0), ("platform",)):
            answer(put(valid("every-key"), (*place, key), {"x": 1}))


def test_text_that_cannot_be_printed_is_told_all_the_same() -> None:
    for text in ("\ud800", "a\nb", "\u2028", "\x1b[31m", "x" * 5000, "-----BEGIN PRIVATE KEY-----"):
        answer({**valid(), "name": text})
        answer({**valid(), text: 1})


def test_numbers_that_cannot_be_written_are_told_all_the_same() -> None:
    for place in (("name",), ("rollout", "timeout"), ("network", "vip"), ("nodes", 0, "vmId")):
        answer(put(valid("every-key"), place, 10**5000))


def test_a_key_that_is_called_as_a_key_in_an_error_is_a_key() -> None:
    for raw in ({"[key]": 1}, {"network": {"[key]": 1}}):
        with pytest.raises(TopologyError) as caught:
            load(raw)
        assert any(written(fault.place.path).endswith('"[key]"') for fault in caught.value.findings)
