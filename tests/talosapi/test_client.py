import asyncio
import datetime

import pytest

from talosapi import ApplyMode, Client, Code, Credentials, TalosError
from talosapi.errors import redact
from tests.talosapi import machines
from tests.talosapi.machines import FakeCluster
from tests.talosapi.pki import Authority


def client(cluster: FakeCluster, **options: object) -> Client:
    machine = cluster.machines[0]
    options = {"name": machine.name, "port": cluster.ports.talos, **options}
    return Client(machine.address, options.pop("credentials", cluster.credentials), **options)  # type: ignore[arg-type]


async def test_answers_come_as_values() -> None:
    async with machines.cluster(1) as cluster, client(cluster) as machine:
        version = await machine.version()
        assert (version.tag, version.arch, version.platform) == ("v1.13.9", "amd64", "metal")
        assert await machine.hostname() == "cp-1"
        assert (await machine.services())["etcd"].up
        assert [member.hostname for member in await machine.etcd_members()] == ["cp-1"]
        assert (await machine.etcd_status()).member_id == 0xA1
        assert (await machine.kubeconfig()).startswith("clusters:")
        applied = await machine.apply("machine: {}", mode=ApplyMode.STAGED, dry_run=True)
        assert (applied.mode, applied.details, applied.warnings) == (ApplyMode.STAGED, "applied", ("mind this",))
        assert cluster.machines[0].applied[0].data == b"machine: {}"
        assert cluster.machines[0].applied[0].dry_run


async def test_the_configuration_of_a_machine_comes_as_text() -> None:
    async with machines.cluster(1) as cluster, client(cluster) as machine:
        with pytest.raises(TalosError) as caught:
            await machine.machine_configuration()
        assert caught.value.code is Code.NOT_FOUND
        cluster.machines[0].configuration = b"machine: {type: worker}\n"
        assert await machine.machine_configuration() == "machine: {type: worker}\n"
        cluster.machines[0].configuration = b"\xff\xfe"
        with pytest.raises(TalosError, match="its machine configuration cannot be read"):
            await machine.machine_configuration()


async def test_a_call_can_be_relayed_and_the_error_of_the_other_machine_is_raised() -> None:
    async with machines.cluster(1) as cluster, client(cluster, relay_to="gone", name=None) as machine:
        with pytest.raises(TalosError) as caught:
            await machine.hostname()
        assert cluster.machines[0].metadata["node"] == "gone"
        assert (caught.value.node, caught.value.code) == ("gone", Code.UNAVAILABLE)


async def test_a_machine_in_maintenance_mode_answers_without_credentials_and_is_refused_with_them() -> None:
    async with machines.cluster(1) as cluster:
        machine = cluster.machines[0]
        pair = Authority("maintenance").server(machine.address)
        async with machines.serve_talos(machine, machines.server_context(None, pair)) as port:
            async with client(cluster, credentials=None, port=port) as insecure:
                assert (await insecure.version()).tag == "v1.13.9"
            async with client(cluster, port=port) as secure:
                with pytest.raises(TalosError) as caught:
                    await secure.version()
        assert caught.value.code is Code.UNAUTHENTICATED
        assert "it is in maintenance mode or belongs to another cluster" in str(caught.value)


async def test_a_configured_machine_says_so_to_a_client_without_credentials() -> None:
    async with machines.cluster(1) as cluster, client(cluster, credentials=None) as insecure:
        with pytest.raises(TalosError, match="it is configured already: use the credentials of its cluster"):
            await insecure.version()


async def test_credentials_of_another_cluster_are_refused() -> None:
    other = Authority()
    person = other.client()
    async with machines.cluster(1) as cluster:
        stranger = Credentials(cluster.authority.pem, person.crt, person.key)
        async with client(cluster, credentials=stranger) as machine:
            with pytest.raises(TalosError, match="it does not take these credentials"):
                await machine.version()


@pytest.mark.parametrize(
    ("address", "age", "cure"),
    [
        ("127.7.0.99", 0, "name the address in machine.certSANs"),
        ("127.7.0.1", 5, "compare the machine's clock with the one here"),
        ("127.7.0.1", -5, "compare the machine's clock with the one here"),
    ],
)
async def test_the_certificate_must_be_of_this_address_and_of_today(address: str, age: int, cure: str) -> None:
    async with machines.cluster(1) as cluster:
        pair = cluster.authority.server(address, age=datetime.timedelta(days=age))
        context = machines.server_context(cluster.authority, pair)
        async with machines.serve_talos(cluster.machines[0], context) as port, client(cluster, port=port) as machine:
            with pytest.raises(TalosError, match=cure) as caught:
                await machine.version()
    assert caught.value.code is Code.UNAUTHENTICATED


async def test_a_refused_connection_says_where_to_look() -> None:
    async with machines.cluster(1) as cluster:
        gone = client(cluster)
    async with gone as machine:
        with pytest.raises(
            TalosError, match=r"no connection to 127\.7\.0\.1:.*check on its console that it is on"
        ) as caught:
            await machine.version()
    assert caught.value.refused


async def test_a_call_that_hangs_ends_at_its_deadline_and_the_next_one_connects_anew() -> None:
    async with machines.cluster(1) as cluster, client(cluster, timeout=0.1) as machine:
        forever = asyncio.Event()
        cluster.machines[0].before = lambda call: forever.wait()
        with pytest.raises(TalosError, match=r"no answer from 127\.7\.0\.1:\d+ within 0.1 s") as caught:
            await machine.version()
        assert caught.value.code is Code.DEADLINE_EXCEEDED
        cluster.machines[0].before = lambda call: None
        assert (await machine.version()).tag == "v1.13.9"


async def test_a_machine_that_accepts_and_says_nothing_ends_at_the_deadline() -> None:
    async with machines.cluster(1) as cluster:
        done = asyncio.Event()

        async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await done.wait()
            writer.close()

        async with await asyncio.start_server(silent, "127.7.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with client(cluster, port=port, timeout=0.1) as machine:
                with pytest.raises(TalosError) as caught:
                    await machine.version()
            done.set()
    assert caught.value.code is Code.DEADLINE_EXCEEDED


async def test_a_dropped_call_fails_and_the_client_goes_on() -> None:
    async with machines.cluster(1) as cluster, client(cluster) as machine:
        with pytest.raises(TalosError, match="closed the connection during the call"):
            await machine.reboot()
        assert (await machine.version()).tag == "v1.13.9"


async def test_a_status_of_the_machine_keeps_its_code_and_text() -> None:
    async with machines.cluster(1) as cluster, client(cluster) as machine:
        with pytest.raises(TalosError) as caught:
            await machine.bootstrap()
    assert str(caught.value) == "cp-1: etcd data directory is not empty (ALREADY_EXISTS)"


async def test_an_empty_answer_and_a_broken_archive_are_errors_of_the_machine() -> None:
    async with machines.cluster(1) as cluster, client(cluster) as machine:
        with pytest.raises(TalosError, match="its answer is empty"):
            await machine.reset()
        for broken in (
            b"",
            b"not an archive",
            machines.archive("x", name="other"),
            cluster.machines[0].kubeconfig[:60],
        ):
            cluster.machines[0].kubeconfig = broken
            with pytest.raises(TalosError, match="its kubeconfig is not an archive with a file kubeconfig"):
                await machine.kubeconfig()


async def test_a_stream_that_breaks_gives_what_came_and_then_the_error() -> None:
    got: list[bytes] = []
    async with machines.cluster(1) as cluster, client(cluster) as machine:
        with pytest.raises(TalosError, match="etcd stopped"):
            async for chunk in machine.etcd_snapshot():
                got.append(chunk)
    assert got == [b"first"]


async def test_a_cancelled_call_is_cancelled() -> None:
    asked, forever = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        asked.set()
        await forever.wait()

    async with machines.cluster(1) as cluster, client(cluster) as machine:
        cluster.machines[0].before = lambda call: hang()
        task = asyncio.create_task(machine.version())
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key -----BEGIN X-----\nabc\n-----END X----- end", "key [redacted] end"),
        ("cut -----BEGIN EC PRIVATE KEY-----\nabc", "cut [redacted]"),
        ("token abcdef.0123456789abcdef is bad", "token [redacted] is bad"),
        ("cannot unmarshal !!str `Zm9v` into int", "cannot unmarshal !!str [redacted] into int"),
        ("secret WJsWyzGt9IKBSwmIR2GO4tVnUTTeF4SPvJpV3l9gWSA= x", "secret [redacted] x"),
        ("/var/lib/etcd/member/snap/db/of/some/length/here", "/var/lib/etcd/member/snap/db/of/some/length/here"),
        ("installer/" + "0a" * 32, "installer/" + "0a" * 32),
    ],
)
def test_what_looks_like_a_secret_is_taken_out_of_a_machines_text(text: str, shown: str) -> None:
    assert redact(text) == shown
