"""What the system disk of a machine holds: boot loader entries, what Talos keeps beside them, the configuration."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class BootEntry:
    """One entry of the boot loader: one Talos, in one version and of one schematic (empty where no factory made it)."""

    image: str
    version: str
    schematic: str
    label: str = ""


@dataclass
class SystemDisk:
    """What survives a power cycle. The configuration is kept in memory only: nothing secret stays in a file.

    ``unproven``: what an installation notes down and the machine forgets once it runs and is ready; until then a boot
    that fails goes back to ``fallback``. ``staged``: the installer image of an upgrade that waits for the next boot.
    """

    default: BootEntry | None = None
    fallback: BootEntry | None = None
    unproven: bool = False
    staged: str = ""
    configuration: str | None = field(default=None, repr=False)

    @property
    def installed(self) -> bool:
        """Whether Talos is on it."""
        return self.default is not None

    def write(self, image: str, version: str, schematic: str) -> BootEntry:
        """Add an entry, which the next boot takes, and keep no other than the one that was taken until now."""
        taken = {entry.label for entry in (self.default, self.fallback) if entry}
        label = f"Talos-{version}"
        number = 0
        while label in taken:
            number += 1
            label = f"Talos-{version}~{number}"
        entry = BootEntry(image, version, schematic, label)
        self.fallback, self.default = self.default, entry
        self.unproven = self.fallback is not None
        return entry

    def turn_back(self) -> BootEntry | None:
        """Let the next boot take the fallback; returns it, None where there is none."""
        if self.fallback:
            self.default, self.fallback = self.fallback, self.default
            self.unproven = False
            return self.default
        return None


def image_version(image: str, default: str) -> str:
    """The Talos version in an installer image's tag."""
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    return tag if tag.startswith("v") else default


def image_schematic(image: str) -> str:
    """The schematic in a factory installer image, empty for any other image."""
    parts = image.partition("@")[0].split("/")
    name = parts[-1].partition(":")[0]
    return name if len(name) == 64 and len(parts) > 2 else ""
