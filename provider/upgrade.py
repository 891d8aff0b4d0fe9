"""Bringing one machine to its release: one step after the other, each derived from what the machine says then."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager

from kubeapi import DrainError, KubernetesError
from provider.marker import Marker, Phase
from provider.node import MachineNode
from provider.observing import Observer
from provider.refused import Refused
from provider.release import Release
from provider.steps import Seen, Step, next_step
from talosapi import Client, Code, Credentials, CredentialsError, NotReady, TalosError, etcd
from talosapi.conditions import rebooted
from talosapi.errors import redact
from talosapi.fleet import Fleet
from talosapi.quorum import Step as QuorumStep
from talosapi.results import Installed
from talosapi.waiting import Patience, Report, label, saying, wait
from versioning.upgrades import refusal

_CUT_OFF = frozenset({Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED})
"""A call that ended so may have been heard."""


async def bring(release: Release, credentials: Credentials, report: Report, *, adopt: bool) -> None:
    """Bring the machine to the release. Raises Refused.

    ``adopt``: it is new to the state, so it may also wait for its first configuration, which installs what is wanted.
    """
    patience = Patience(timeout=release.timeout, report=report)
    try:
        async with patience.fleet(credentials) as fleet:
            await _Upgrade(release, credentials, fleet, patience, report, adopt=adopt).run()
    except (NotReady, TalosError, CredentialsError, KubernetesError, DrainError) as error:
        raise Refused(str(error)) from None


class _Upgrade:
    """Owns the way of one machine."""

    def __init__(
        self,
        release: Release,
        credentials: Credentials,
        fleet: Fleet,
        patience: Patience,
        report: Report,
        *,
        adopt: bool,
    ) -> None:
        self._release = release
        self._machine = release.machine
        self._credentials = credentials
        self._fleet = fleet
        self._patience = patience
        self._report = report
        self._node = MachineNode(release, fleet, patience, report)
        self._observer = Observer(release, fleet, self._node, patience, adopt=adopt)
        self._steps: Mapping[Step, Callable[[Seen], Awaitable[None]]] = {
            Step.WAIT: self._wait,
            Step.INSTALL: self._install,
            Step.UPGRADE: self._upgrade,
            Step.SETTLE: self._settle,
            Step.REBOOT: self._reboot,
            Step.FINISH: self._finish,
            Step.ROLLED_BACK: self._rolled_back,
        }

    async def run(self) -> None:
        """Take steps until there is nothing left to do."""
        while seen := await self._observer.look():
            step = next_step(self._release, seen)
            if step is Step.NOTHING:
                return
            self._report(f"{label(self._machine)}: it runs {seen.version}; next: {step.value}")
            await self._steps[step](seen)

    async def _wait(self, _: Seen) -> None:
        await self._observer.until_it_runs()

    async def _install(self, seen: Seen) -> None:
        self._check_path(seen)
        client = await self._client()
        await self._pull(client)
        await self._node_is_empty()
        await self._node.mark(Marker(Phase.INSTALLING, seen.boot, self._release.image))
        try:
            async with self._saying(f"installing {self._release.version}"):
                installed = await client.install(self._release.image, timeout=self._release.timeout)
        except TalosError as error:
            if error.code in _CUT_OFF:
                return  # it installs on: what became of it is looked for
            await self._node.finish()
            raise
        if installed.exit_code != 0:
            await self._node.finish()
            raise Refused(
                f"{label(self._machine)}: {_end(installed)}; it runs {seen.version} as before; mend what the installer"
                " names and run `up` again"
            )
        await self._node.mark(Marker(Phase.INSTALLED, seen.boot, self._release.image))

    async def _settle(self, seen: Seen) -> None:
        """Wait for an installer whose end was not seen, and take it that it ended well.

        If it did not, the machine boots what it ran, and is installed then: a second installation before the reboot
        would delete what it runs.
        """

        await self._observer.until_no_installer()
        await self._reboot(seen)

    async def _reboot(self, seen: Seen) -> None:
        await self._node_is_empty()
        client = await self._client()
        await self._quorum_allows()
        if self._release.is_control_plane and len(self._release.control_planes) > 1:
            await client.forfeit_leadership()
        await _heard(client.reboot())
        await self._until_rebooted(seen.boot)

    async def _upgrade(self, seen: Seen) -> None:
        """Use the older call: it installs and reboots, and its answer promises neither."""
        self._check_path(seen)
        client = await self._client()
        await self._node_is_empty()
        await self._quorum_allows()
        await self._node.mark(Marker(Phase.UPGRADING, seen.boot, self._release.image))
        loss = self._release.accept_quorum_loss and len(self._release.control_planes) == 2
        call = client.upgrade(
            self._release.image, stage=self._release.staged, force=loss, timeout=self._release.timeout
        )
        try:
            async with self._saying(f"upgrading to {self._release.version}"):
                await _heard(call)
        except TalosError:
            await self._node.finish()
            raise
        await self._until_rebooted(seen.boot)

    async def _finish(self, _: Seen) -> None:
        await self._node.finish()

    async def _rolled_back(self, seen: Seen) -> None:
        await self._node.finish()
        raise Refused(
            f"{label(self._machine)}: came back from its reboot with {seen.version} again, not with"
            f" {self._release.version}: Talos rolled back, or its installer failed; `talosctl -n"
            f" {self._machine.address} dmesg` and its console may say why; after that is fixed, `up` tries again"
        )

    def _check_path(self, seen: Seen) -> None:
        if why := refusal(seen.version, self._release.version):
            raise Refused(f"{label(self._machine)}: cannot be given {self._release.version}: {why}")

    async def _pull(self, client: Client) -> None:
        try:
            async with self._saying(f"pulling {self._release.image}"):
                await client.pull(self._release.image, timeout=self._release.timeout)
        except TalosError as error:
            if error.code is Code.NOT_FOUND:
                raise Refused(
                    f"{label(self._machine)}: there is no image {self._release.image}: {error.message}; see that the"
                    " version and its extensions exist and that the machine can reach the registry"
                ) from None
            raise

    async def _node_is_empty(self) -> None:
        try:
            await self._node.empty()
        except DrainError as error:
            if self._release.go_on_undrained:
                self._report(f"{error}; going on, as the stack file says")
                return
            await self._node.release_cordon()
            raise

    async def _quorum_allows(self) -> None:
        if self._release.is_control_plane:
            await etcd.wait_until_it_may(
                QuorumStep.GOES_DOWN,
                self._machine,
                self._release.control_planes,
                self._credentials,
                patience=self._patience,
                accept_loss=self._release.accept_quorum_loss,
            )

    def _saying(self, what: str) -> AbstractAsyncContextManager[None]:
        line = f"{label(self._machine)}: still {what}"
        return saying(self._report, lambda waited: f"{line} after {waited:.0f} s")

    async def _until_rebooted(self, boot: str) -> None:
        await wait([(self._machine, [rebooted(boot)])], self._credentials, patience=self._patience)

    async def _client(self) -> Client:
        return await self._fleet.client(self._machine)


def _end(installed: Installed) -> str:
    """Say how an installer ended that did not end well."""
    code = "without an exit code" if installed.exit_code is None else f"with exit code {installed.exit_code}"
    return f"the installer ended {code}: {redact('; '.join(installed.said)) or 'it said nothing'}"


async def _heard(call: Awaitable[str]) -> None:
    """Make a call after which the machine may be gone: whether it was heard says the boot that follows."""
    try:
        await call
    except TalosError as error:
        if error.code not in _CUT_OFF:
            raise
