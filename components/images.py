"""The schematics that the machines of a cluster boot and install."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pulumi
import pulumiverse_talos as talos
from pulumiverse_talos import imagefactory

from machineconfig import Schematic


@dataclass(frozen=True)
class BootImagesArgs:
    """``schematics`` by id: the distinct ones that the nodes of the topology use."""

    schematics: Mapping[str, Schematic]
    provider: talos.Provider


class BootImages(pulumi.ComponentResource):
    """Owns the schematics at the Image Factory. Refuses a factory that gives one another id than was computed.

    Ids are computed from the topology, so preview shows every URL and installer image; the answer of the factory is
    compared with them on each run.
    """

    registered: Mapping[str, pulumi.Output[str]]
    """The factory's id of each schematic, by the computed id: what uses an image depends on it."""

    def __init__(self, name: str, args: BootImagesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register every schematic once."""
        super().__init__("talos-stacks:index:BootImages", name, None, opts)
        options = pulumi.ResourceOptions(parent=self, provider=args.provider)
        self.registered = {
            id_: imagefactory.Schematic(f"schematic-{id_[:8]}", schematic=schematic.yaml, opts=options).id.apply(
                partial(confirmed, id_)
            )
            for id_, schematic in args.schematics.items()
        }
        self.register_outputs({"schematics": list(self.registered.values())})


def confirmed(computed: str, answer: str) -> str:
    """Return the id that the Image Factory answered; raise RunError where it is another than was computed."""
    if answer != computed:
        raise pulumi.RunError(
            f"schematic {computed}: the Image Factory answered {answer}; the installer images in the machine"
            " configurations would not exist there: check `imageFactory` in the stack file and its version"
        )
    return answer
