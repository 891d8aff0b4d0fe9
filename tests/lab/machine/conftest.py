"""Labs for the tests of simulated machines."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.lab.machine.lab import Lab, bring_up, etcd, running


@pytest_asyncio.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    """A lab of its own for one test, without etcd."""
    async for lab in running(tmp_path):
        yield lab


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Three control planes with real etcd and a worker, up; one for all tests of a module."""
    async for lab in running(tmp_path_factory.mktemp("cluster"), etcd()):
        await bring_up(lab)
        yield lab
