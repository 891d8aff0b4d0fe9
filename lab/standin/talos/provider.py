"""The package as the engine sees it."""

from lab.standin.resource import Provider, by_token
from lab.standin.talos import package
from lab.standin.talos.bootstrap import Bootstrap
from lab.standin.talos.configuration import GetClientConfiguration, GetConfiguration
from lab.standin.talos.configuration_apply import ConfigurationApply
from lab.standin.talos.factory import GetUrls, ImageFactory
from lab.standin.talos.kubeconfig import Kubeconfig
from lab.standin.talos.machine_secrets import MachineSecrets
from lab.standin.talos.schematic import Schematic
from lab.standin.values import Properties


class Talos(Provider):
    """The simulated part of the ``talos`` package."""

    name = "talos"
    version = package.VERSION
    configuration = package.CONFIGURATION

    def __init__(self) -> None:
        """Start with the public Image Factory, as the provider does without configuration."""
        self._factory = ImageFactory()
        self.resources = by_token(
            MachineSecrets(), ConfigurationApply(), Bootstrap(), Kubeconfig(), Schematic(self._factory)
        )
        self.functions = by_token(GetConfiguration(), GetClientConfiguration(), GetUrls(self._factory))

    async def configure(self, given: Properties) -> None:
        """Take the address of the Image Factory."""
        self._factory.configure(given.get("imageFactoryUrl"))
