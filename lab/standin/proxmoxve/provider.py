"""The package as the engine sees it."""

from lab.standin.proxmoxve import package, session
from lab.standin.proxmoxve.download import File
from lab.standin.proxmoxve.machines import Machines, World
from lab.standin.proxmoxve.pool import PciMapping, Pool
from lab.standin.proxmoxve.session import Session
from lab.standin.proxmoxve.store import Store
from lab.standin.proxmoxve.vm import Vm
from lab.standin.resource import Provider, by_token
from lab.standin.schema import Failure
from lab.standin.values import Properties


class Proxmoxve(Provider):
    """The simulated part of the ``proxmoxve`` package."""

    name = "proxmoxve"
    version = package.VERSION
    configuration = package.CONFIGURATION

    def __init__(self, store: Store | None = None, machines: Machines | None = None) -> None:
        """Keep what is made in ``store`` and boot machines in ``machines``; without them, in the running lab."""
        self._session = Session(store or Store())
        self.resources = by_token(
            Vm(package.VM, self._session, machines or World()),
            File(package.FILE, self._session),
            File(package.FILE_LEGACY, self._session),
            Pool(package.POOL, self._session),
            PciMapping(package.PCI, self._session),
            PciMapping(package.PCI_LEGACY, self._session),
        )
        self.functions = {}

    def check_configuration(self, given: Properties) -> list[Failure]:
        """Refuse a missing endpoint or missing credentials."""
        return session.check_configuration(given)

    async def configure(self, given: Properties) -> None:
        """Take endpoint and credentials."""
        self._session.configure(given)
