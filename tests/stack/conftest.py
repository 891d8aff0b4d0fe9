"""Labs for tests: one that a module shares, and one that a test has for itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack.rehearsal import Rehearsal


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exhaustive: takes very long, runs with `make test-exhaustive` only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "exhaustive" not in config.option.markexpr:
        items[:] = [item for item in items if "exhaustive" not in item.keywords]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    """The lab stack, up."""
    rehearsal = Rehearsal(tmp_path_factory.mktemp("cluster"))
    rehearsal.start()
    try:
        rehearsal.up()
        yield rehearsal
    finally:
        rehearsal.down()


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    """The lab stack, not started."""
    found = Rehearsal(tmp_path)
    try:
        yield found
    finally:
        found.down()
