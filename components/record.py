"""What the state has on record of a cluster, read before a run registers or changes anything: docs/adr/0021."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

_SECRET = "4dabf18193072939515e22adb298388d"  # noqa: S105 - the key that marks a secret in a state
_ROLE = re.compile(r"^machine:\n    type: (\S+)$", re.MULTILINE)
_IMAGE = r"^    {}:\n(?: {{8}}.*\n)*? {{8}}image: (\S+)$"
_INSTALLER = re.compile(_IMAGE.format("install"), re.MULTILINE)
_KUBELET = re.compile(_IMAGE.format("kubelet"), re.MULTILINE)


@dataclass(frozen=True)
class Images:
    """The images that a machine configuration names; empty where it names none."""

    installer: str
    kubelet: str

    @classmethod
    def of(cls, text: str) -> "Images":
        """Read them as the provider writes them: reading the whole YAML would take a preview a second."""
        return cls(_first(_INSTALLER, text), _first(_KUBELET, text))


@dataclass(frozen=True)
class Applied:
    """A node whose configuration was applied."""

    urn: str
    address: str
    text: str = field(repr=False)
    """The configuration, with its secrets."""

    @property
    def name(self) -> str:
        """The node's name in the stack file."""
        return _name(self.urn)

    @property
    def is_controlplane(self) -> bool:
        """Whether the machine was configured as a control plane."""
        return _first(_ROLE, self.text) == "controlplane"

    @property
    def images(self) -> Images:
        """The images of its configuration."""
        return Images.of(self.text)


@dataclass(frozen=True)
class Running:
    """What a machine runs, as the last upgrade left it or a refresh saw it."""

    version: str
    schematic: str


@dataclass
class Record:
    """What the last run left: empty for a new cluster.

    The engine hands it over as the state of `BringUp` and its children: `read` is a state migration of that component.
    """

    nodes: dict[str, Applied] = field(default_factory=dict)
    """By name."""
    releases: dict[str, Running] = field(default_factory=dict)
    """By name: of machines that this project's own provider knows."""
    lives: bool = False
    """Whether etcd was bootstrapped: `BringUp` remembers it when the node of the bootstrap is retired."""
    contract: str = ""
    """The Talos version contract that the configurations were made with; empty before it was recorded."""
    kubeconfig: tuple[str, str] | None = None
    """The URN of the kubeconfig and the URL of the API in it."""

    def read(self, args: pulumi.StateMigrationArgs) -> None:
        """Take what the engine has on record, and change nothing."""
        for resource in args.old_state:
            inputs, outputs = resource.get("inputs") or {}, resource.get("outputs") or {}
            match resource["type"].rpartition(":")[2]:
                case "BringUp":
                    self.contract = outputs.get("contract", "")
                    self.lives |= "bootstrap" in outputs
                case "ConfigurationApply":
                    text = _plain(inputs.get("machineConfigurationInput"))
                    self.nodes[_name(resource["urn"])] = Applied(resource["urn"], _plain(inputs.get("node")), text)
                case "Release":
                    running = Running(_plain(outputs.get("version")), _plain(outputs.get("schematic")))
                    self.releases[_name(resource["urn"])] = running
                case "Bootstrap":
                    self.lives = True
                case "Kubeconfig":
                    self.kubeconfig = (resource["urn"], _host(outputs))


def tag_of(image: str) -> str:
    """Return the tag of an image, with or without a digest."""
    return image.partition("@")[0].rpartition(":")[2]


def _host(outputs: Mapping[str, Any]) -> str:
    client = outputs.get("kubernetesClientConfiguration") or {}
    return _plain(client.get("host")) if _SECRET not in client else str(json.loads(client["plaintext"]).get("host", ""))


def _plain(value: Any) -> str:
    """Return a text that may be marked as a secret; nothing where it was not known."""
    if isinstance(value, dict) and _SECRET in value:
        value = json.loads(value["plaintext"])
    return value if isinstance(value, str) else ""


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1].strip("'\"") if found else ""
