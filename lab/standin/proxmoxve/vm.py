"""``VmLegacy``: a virtual machine; started from a Talos image, it is a machine of the lab."""

from typing import Any

from lab.standin.difference import changed
from lab.standin.proxmoxve import vm_changes, vm_facts, vm_rules
from lab.standin.proxmoxve.machines import Machines, hardware
from lab.standin.proxmoxve.session import Session
from lab.standin.resource import ProviderError, Resource, get, warn
from lab.standin.schema import Failure, ResourceSchema
from lab.standin.values import UNKNOWN, Properties

_DEFAULTS: Properties = {
    "acpi": True, "bios": "seabios", "bootOrders": [], "hotplug": "network,disk,usb", "keyboardLayout": "en-us",
    "migrate": False, "onBoot": True, "protection": False, "purgeOnDestroy": True, "rebootAfterUpdate": True,
    "scsiHardware": "virtio-scsi-pci", "started": True, "stopOnDestroy": False, "tabletDevice": True,
    "template": False, "networkDevices": [], "vga": {"type": "std", "memory": 16},
}  # fmt: skip
_COMPUTED = ("vmId", "name", "macAddresses", "ipv4Addresses", "ipv6Addresses", "networkInterfaceNames")
_ROOT_ONLY = {"kvmArguments": "args", "hookScriptFileId": "hookscript"}
#: CPU types without x86-64-v2, which Talos needs.
_TOO_OLD = frozenset({"qemu32", "qemu64", "kvm32", "kvm64", "486", "pentium", "pentium2", "pentium3", "athlon"})


class Vm(Resource):
    """A virtual machine; its id is its number."""

    def __init__(self, schema: ResourceSchema, session: Session, machines: Machines) -> None:
        """Stand in for the SDK's virtual machine; ``machines`` is the world."""
        self.schema = schema
        self._session = session
        self._machines = machines

    def check(self, name: str, inputs: Properties) -> list[Failure]:
        """Refuse what the provider's validators and Proxmox VE refuse."""
        return vm_rules.check(inputs)

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """Numbers, hardware addresses and what the guest agent tells are known afterwards."""
        kept = {name: state[name] for name in _COMPUTED if name in state} if state else {}
        return {**_DEFAULTS, **dict.fromkeys(_COMPUTED, UNKNOWN), **kept, **inputs}

    def replacements(self, state: Properties, planned: Properties, changed: list[str]) -> list[str]:
        """Name the changes that need another virtual machine."""
        return vm_changes.replacements(state, planned, changed)

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Make it and, when it is to be started, boot it."""
        self._session.authorize()
        self._refuse_for_token(planned)
        with self._session.store.change() as state:
            number = vm_facts.number(planned, state)
            made = vm_facts.facts({**planned, "vmId": number})
            image = vm_facts.boot_image(made, state)
            vm_facts.refuse_missing(made, number, state)
            state["vms"][str(number)] = vm_facts.record(made)
        try:
            if made["started"] and not made["template"]:
                await self._boot(made, image)
        except ProviderError:
            with self._session.store.change() as state:
                state["vms"].pop(str(number), None)
            raise
        return str(number), made

    async def _boot(self, made: Properties, image: dict[str, Any] | None) -> None:
        """Make the machine of the lab that a virtual machine is from its first start on."""
        cpu = get(made, "cpu", "type", default="qemu64")
        if image is None:
            await warn(f"VM {made['name']}: none of its disks comes from a Talos image, so nothing boots in the lab")
        elif cpu in _TOO_OLD:
            await warn(f"VM {made['name']}: Talos halts on CPU type {cpu}, which lacks x86-64-v2: nothing will answer")
        else:
            if vm_facts.waits_in_vain(made, image):
                made.update(vm_facts.UNSEEN)
                await warn(f"VM {made['name']}: the guest agent is enabled but not in the image: every wait times out")
            await self._machines.create(hardware(vm_facts.machine_uuid(made), made, image))
            with self._session.store.change() as state:
                state["vms"][str(made["vmId"])]["machine"] = True

    async def read(self, identity: str, state: Properties) -> Properties | None:
        """Tell whether it is still there."""
        self._session.authorize()
        return state if identity in self._session.store.read()["vms"] else None

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Change it; reboot it where the real provider does."""
        self._session.authorize()
        self._refuse_for_token(planned)
        vm_changes.refuse_impossible(state, planned)
        made = vm_facts.facts(planned)
        with self._session.store.change() as store:
            known = store["vms"].get(identity)
            if known is None:
                raise ProviderError(f"VM {identity} does not exist")
            vm_facts.refuse_missing(made, int(identity), store)
            image = None if known["machine"] or not made["started"] else vm_facts.boot_image(made, store)
            fixed = {name: known[name] for name in ("uuid", "machine")}
            store["vms"][identity] = {**vm_facts.record(made), **fixed}
        await self._switch(state, made, known, image)
        return made

    async def _switch(
        self, state: Properties, made: Properties, known: dict[str, Any], image: dict[str, Any] | None
    ) -> None:
        """Turn the machine on, off, or off and on again."""
        reboot = vm_changes.needs_reboot(state, made, changed(state, made))
        if not known["machine"]:
            if made["started"]:
                await self._boot(made, image)
        elif known["running"] != made["started"]:
            await self._machines.power(known["uuid"], "on" if made["started"] else "off")
        elif known["running"] and reboot and made["rebootAfterUpdate"]:
            await self._machines.power(known["uuid"], "cycle")
        elif known["running"] and reboot:
            await warn(f"VM {made['name']}: a reboot is required to apply {', '.join(reboot)}")

    async def delete(self, identity: str, state: Properties) -> None:
        """Stop and remove it; a protected one is refused."""
        self._session.authorize()
        if state.get("protection") is True:
            raise ProviderError(f"VM {identity} is protected: can't remove VM {identity} - protection mode enabled")
        with self._session.store.change() as store:
            known = store["vms"].pop(identity, None)
        if known and known["machine"]:
            await self._machines.delete(known["uuid"])

    def _refuse_for_token(self, planned: Properties) -> None:
        if not self._session.with_token:
            return
        for index, device in enumerate(get(planned, "hostpcis", default=[])):
            if device.get("id"):
                raise ProviderError(
                    "received an HTTP 500 response - Reason: only root can set "
                    f"'{device['device']}' config for non-mapped devices: use hostpcis[{index}].mapping"
                )
        for name, option in _ROOT_ONLY.items():
            if planned.get(name):
                raise ProviderError(f"received an HTTP 500 response - Reason: only root can set '{option}' config")
