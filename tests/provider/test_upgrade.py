"""One machine on its way to another release: with what it says, whatever cuts the way short."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from lab.machine import Machine as Simulated
from machinery import client_certificate
from provider.reading import seen
from provider.refused import Refused
from provider.release import Machine, Release
from provider.upgrade import bring
from talosapi import Credentials
from tests.lab.machine.lab import Lab, until

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
PLANES = ("cp1", "cp2", "cp3")
_patches = itertools.count(10)


class Way:
    """Another release for one machine of the cluster, which no test before had."""

    def __init__(self, lab: Lab, name: str, **settings: object) -> None:
        self.lab = lab
        self.machine: Simulated = lab.named(name)
        self.version = f"v1.13.{next(_patches)}"
        self.said: list[str] = []
        self.since = len(lab.journal.entries)
        image = f"factory.talos.dev/metal-installer/{SCHEMATIC}:{self.version}"
        planes = tuple(self._known(plane) for plane in PLANES)
        given: dict[str, Any] = {
            "timeout": 40.0,
            "drain_timeout": 5.0,
            "go_on_undrained": False,
            "staged": False,
            **settings,
        }
        self.release = Release(
            self._known(name), name in PLANES, self.version, SCHEMATIC, image, planes, accept_quorum_loss=False, **given
        )

    def _known(self, name: str) -> Machine:
        return Machine(name, self.lab.named(name).hardware.address)

    def credentials(self) -> Credentials:
        admin = client_certificate(self.lab.secrets.os)
        return Credentials(*(pem.encode() for pem in (self.lab.secrets.os.crt, admin.crt, admin.key)))

    async def go(self) -> None:
        await bring(self.release, self.credentials(), self.said.append, adopt=False)

    async def cut_short(self, event: str) -> None:
        """Go, and be interrupted as soon as the machine's journal has the event."""
        task = asyncio.create_task(self.go())
        await until(lambda: task.done() or self.happened(event), event)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()

    def happened(self, event: str) -> int:
        """How often it happened to the machine since the way began."""
        entries = self.lab.journal.entries[self.since :]
        return sum(entry["event"] == event and entry["machine"] == self.machine.name for entry in entries)

    async def left_on_the_node(self) -> list[str]:
        api = next(plane.session.kubeapi for plane in map(self.lab.named, PLANES) if plane.session)
        assert api
        node = await api.nodes.one(self.machine.name)
        assert node
        ours = [key for key in node["metadata"].get("annotations", {}) if key.startswith("talos-stacks.dev/")]
        return [*ours, *(["unschedulable"] if node["spec"].get("unschedulable") else [])]


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def no_violation(cluster: Lab) -> AsyncIterator[None]:
    yield
    assert cluster.events("violation") == []


@pytest.mark.parametrize("name", ["w1", "cp2"])
async def test_a_machine_is_installed_once_rebooted_once_and_left_as_it_was(cluster: Lab, name: str) -> None:
    way = Way(cluster, name)
    await way.go()
    assert way.machine.version == way.version
    assert (way.happened("installed"), way.happened("reboot")) == (1, 1)
    assert await way.left_on_the_node() == []
    assert await seen(way.release.machine, way.credentials()) == {"version": way.version, "schematic": SCHEMATIC}


async def test_a_machine_that_runs_what_is_wanted_is_left_alone(cluster: Lab) -> None:
    way = Way(cluster, "w1")
    await way.go()
    calls = len(cluster.journal.entries)
    await way.go()
    assert [entry for entry in cluster.journal.entries[calls:] if entry["event"] != "call"] == []


@pytest.mark.parametrize("event", ["installed", "reboot", "boot"])
async def test_a_way_that_was_cut_short_goes_on_where_the_machine_is(cluster: Lab, event: str) -> None:
    way = Way(cluster, "w1")
    await way.cut_short(event)
    await way.go()
    assert way.machine.version == way.version
    assert (way.happened("installed"), way.happened("reboot")) == (1, 1)
    assert await way.left_on_the_node() == []


async def test_an_installer_that_nobody_listens_to_any_more_is_waited_for_and_not_started_again(cluster: Lab) -> None:
    way = Way(cluster, "w1")
    task = asyncio.create_task(way.go())
    with contextlib.ExitStack() as held:
        await until(lambda: any("install beside" in line for line in way.said), "the installation")
        session = way.machine.session
        assert session
        await until(session.upgrading.locked, "the installer at work")
        held.enter_context(cluster.clock.held())
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert not way.happened("installed")
        again = asyncio.create_task(way.go())
        await until(lambda: any("its installer to end" in line for line in way.said), "it to be waited for")
    await again
    assert (way.happened("installed"), way.happened("reboot")) == (1, 1)
    assert await way.left_on_the_node() == []


async def test_a_staged_upgrade_is_installed_by_the_boot(cluster: Lab) -> None:
    way = Way(cluster, "w1", staged=True)
    await way.go()
    assert way.machine.version == way.version
    assert way.happened("installed") == 1
    assert await way.left_on_the_node() == []


async def test_an_installer_that_fails_leaves_the_machine_as_it_was(cluster: Lab) -> None:
    way = Way(cluster, "w1")
    before = way.machine.version
    cluster.faults.set("w1", "installer-fails", exit=9)
    with pytest.raises(Refused, match=rf"w1 \(.*\): the installer ended with exit code \d+: .*; it runs {before} as"):
        await way.go()
    cluster.faults.clear("w1")
    assert (way.happened("reboot"), await way.left_on_the_node()) == (0, [])
    await way.go()
    assert way.machine.version == way.version


async def test_an_image_that_is_not_there_is_named_and_nothing_is_changed(cluster: Lab) -> None:
    way = Way(cluster, "w1")
    cluster.faults.set("w1", "image-missing")
    with pytest.raises(Refused, match=rf"w1 \(.*\): there is no image {way.release.image}: .*; see that the version"):
        await way.go()
    cluster.faults.clear("w1")
    assert (way.happened("reboot"), await way.left_on_the_node()) == (0, [])


async def test_a_machine_that_rolled_back_is_named_and_tried_again_by_the_next_run(cluster: Lab) -> None:
    way = Way(cluster, "w1")
    before = way.machine.version
    cluster.faults.set("w1", "rolls-back")
    with pytest.raises(Refused, match=rf"came back from its reboot with {before} again, not with {way.version}"):
        await way.go()
    cluster.faults.clear("w1")
    assert await way.left_on_the_node() == []
    await way.go()
    assert way.machine.version == way.version


async def test_a_control_plane_does_not_go_down_while_another_is(cluster: Lab) -> None:
    way = Way(cluster, "cp1", timeout=3.0)
    other = cluster.named("cp3")
    await other.power_off()
    with pytest.raises(Refused, match=r"cp1 \(.*\): .* a majority of etcd that lets it go down"):
        await way.go()
    assert not way.happened("reboot")
    await other.power_on()
    await until(lambda: other.session and other.session.etcd and other.session.etcd.healthy, "cp3 is back")


async def test_a_step_that_talos_does_not_take_is_refused_on_what_the_machine_runs(cluster: Lab) -> None:
    way = Way(cluster, "w1")
    release = Release(**{**vars(way.release), "version": "v1.15.0"})
    with pytest.raises(
        Refused, match=r"w1 \(.*\): cannot be given v1\.15\.0: it runs v1\.13\.\d+, and goes up one minor"
    ):
        await bring(release, way.credentials(), way.said.append, adopt=False)
    assert await way.left_on_the_node() == []


async def test_a_machine_in_maintenance_mode_is_adopted_and_not_upgraded(cluster: Lab) -> None:
    await cluster.in_maintenance("new", 31)
    way = Way(cluster, "new")
    await bring(way.release, way.credentials(), way.said.append, adopt=True)
    with pytest.raises(Refused, match="is in maintenance mode: it was reset or installed anew"):
        await way.go()
    assert await seen(way.release.machine, way.credentials()) == {"stage": "maintenance"}


async def test_a_machine_that_does_not_answer_says_nothing(cluster: Lab) -> None:
    way = Way(cluster, "w1")
    assert await seen(Machine("gone", f"{cluster.network}.99"), way.credentials()) == {}
