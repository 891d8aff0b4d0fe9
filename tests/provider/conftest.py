"""Three control planes with real etcd and a worker, in the test's own process."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.lab.machine.lab import Lab, bring_up, etcd, running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """One for all tests of a module; each finds it healthy and leaves it so."""
    async for lab in running(tmp_path_factory.mktemp("cluster"), etcd()):
        await bring_up(lab)
        yield lab
