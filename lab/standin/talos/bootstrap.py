"""``Bootstrap``: starts etcd on one control plane, once."""

from lab.standin.resource import Resource
from lab.standin.schema import Failure
from lab.standin.talos import bundle, connect, package
from lab.standin.talos.clients import check_clients
from lab.standin.values import Properties
from talosapi import Client

_IDENTITY = "machine_bootstrap"


class Bootstrap(Resource):
    """The act of bootstrapping. An etcd that is already there is retried until the time is over, as the provider does.

    Update and delete change the state alone.
    """

    schema = package.BOOTSTRAP

    def check(self, name: str, inputs: Properties) -> list[Failure]:
        """Refuse none or two identities."""
        check_clients(inputs)
        return []

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """The endpoint defaults to the node; write-only values do not reach the state."""
        planned = {name: value for name, value in inputs.items() if not name.endswith("Wo")}
        planned.setdefault("endpoint", inputs["node"])
        return planned

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Ask until the machine takes it; only InvalidArgument ends the tries early."""
        credentials = bundle.credentials(inputs)
        await connect.persistently(
            lambda: connect.as_administrator(planned, credentials, Client.bootstrap),
            connect.timeout_of(planned, "create"),
            "Error bootstrapping node",
        )
        return _IDENTITY, planned

    async def adopt(self, identity: str) -> tuple[str, Properties]:
        """Import under any id: nothing is asked, and nothing is known."""
        names = ("clientConfiguration", "clientConfigurationWo", "endpoint", "node")
        return _IDENTITY, {**dict.fromkeys(names), "timeouts": {"create": None}}

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Keep the new values."""
        return planned
