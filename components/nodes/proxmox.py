"""Virtual machines of Proxmox VE, made from the Image Factory's nocloud image."""

from collections.abc import Mapping

import pulumi
import pulumi_proxmoxve as proxmoxve
from pulumi_proxmoxve import download

from components.edits import Words
from components.nodes.shape import NodeArgs, NodeComponent, PlatformArgs, ProvisionedNode
from machineconfig import DiskImage, disk_image
from topology import Node as NodeModel
from topology import Topology
from topology.platforms.proxmox.node import PciDevice, ProxmoxNode
from topology.platforms.proxmox.settings import ProxmoxSettings

API_TOKEN = "proxmoxApiToken"  # noqa: S105 - the name of a config key

WORDS = Words(leaves="its VM is deleted", readdressed="its cloud-init drive keeps the old one")


def environment(topology: Topology) -> Mapping[str, str | None]:
    """Return what the provider would take from the shell where the stack says nothing."""
    settings = _settings(topology)
    unset = ("API_TOKEN", "USERNAME", "PASSWORD", "AUTH_TICKET", "CSRF_PREVENTION_TOKEN", "OTP")
    return {
        "PROXMOX_VE_ENDPOINT": settings.endpoint,
        "PROXMOX_VE_INSECURE": str(settings.insecure).lower(),
        **{f"PROXMOX_VE_{name}": None for name in unset},
    }


class Platform(pulumi.ComponentResource):
    """Owns the provider, the pool of the VMs, and one boot image for each distinct schematic and place.

    A place is a Proxmox node, or the datastore where its hosts share it.
    """

    provider: proxmoxve.Provider
    pool: proxmoxve.PoolLegacy

    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Download each image once."""
        super().__init__("talos-stacks:proxmox:Platform", name, None, opts)
        self._args = args
        self._settings = settings = _settings(args.topology)
        self.provider = proxmoxve.Provider(
            name,
            endpoint=settings.endpoint,
            insecure=settings.insecure,
            api_token=pulumi.Config().require_secret(API_TOKEN),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.pool = proxmoxve.PoolLegacy(
            "pool",
            pool_id=settings.pool or args.topology.name,
            comment=f"Talos cluster {args.topology.name}",
            opts=pulumi.ResourceOptions(parent=self, provider=self.provider),
        )
        self._images: dict[tuple[str, str], download.File] = {}
        for node in args.topology.nodes:
            self.image(node)
        self.register_outputs({"images": [image.id for image in self._images.values()]})

    def image(self, node: NodeModel) -> download.File:
        """Return the boot image of a node; nodes with the same schematic and place share it."""
        settings, boot = self._settings, self._disk_image(node)
        place = settings.image_datastore if settings.shares_images else settings.host_of(node)
        key = (place, boot.file_name)
        if key not in self._images:
            registered = self._args.registered[self._args.schematics[node.name]]
            self._images[key] = download.File(
                f"{place}-{boot.file_name}",
                node_name=settings.image_host_of(node),
                datastore_id=self._settings.image_datastore,
                content_type=boot.content_type,
                file_name=boot.file_name,
                # The factory serves an image of a schematic only after it was registered there.
                url=registered.apply(lambda _: boot.url),
                opts=pulumi.ResourceOptions(parent=self, provider=self.provider),
            )
        return self._images[key]

    def _disk_image(self, node: NodeModel) -> DiskImage:
        topology = self._args.topology
        return disk_image(
            topology.image_factory,
            self._settings.image_platform,
            self._args.schematics[node.name],
            topology.versions.talos,
            image_format=self._settings.image_format,
            architecture=topology.architecture,
            secure_boot=topology.image_of(node).secure_boot,
        )


class Node(NodeComponent):
    """Owns one VM. Its boot image and cloud-init drive matter at creation only: later changes never replace it.

    What does replace a VM, such as another VM id, takes the old one away first, since both have one address. A control
    plane's VM is protected: neither that nor a removed entry may cost etcd a member unasked. It registers no outputs,
    as it has none: docs/adr/0008.
    """

    def __init__(self, name: str, args: NodeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the VM and start it."""
        super().__init__("talos-stacks:proxmox:Node", name, None, opts)
        platform: Platform = args.platform
        node, settings = _node(args.node), _settings(args.topology)
        agent = args.topology.image_of(node).has("qemu-guest-agent")
        vm = proxmoxve.VmLegacy(
            name,
            name=name,
            node_name=settings.host_of(node),
            vm_id=node.vm_id,
            pool_id=platform.pool.pool_id,
            tags=sorted(["talos", args.topology.name, node.role]),
            machine="q35",
            bios="ovmf",
            efi_disk=proxmoxve.VmLegacyEfiDiskArgs(datastore_id=settings.datastore, type="4m", pre_enrolled_keys=False),
            tpm_state=_tpm(node, settings),
            operating_system=proxmoxve.VmLegacyOperatingSystemArgs(type="l26"),
            cpu=proxmoxve.VmLegacyCpuArgs(cores=node.cores, type=settings.cpu_of(node)),
            # Nothing floats: Talos does not take part in ballooning.
            memory=proxmoxve.VmLegacyMemoryArgs(dedicated=node.memory, floating=0),
            scsi_hardware="virtio-scsi-single",
            disks=[_system_disk(node, settings, platform)],
            boot_orders=["scsi0"],
            network_devices=[proxmoxve.VmLegacyNetworkDeviceArgs(bridge=settings.bridge, vlan_id=settings.vlan)],
            initialization=_cloud_init(args.topology, node, settings),
            hostpcis=[_pci(device) for device in node.pci],
            # Each wait for an agent that the image does not have lasts minutes; such a VM is stopped, not shut down.
            agent=proxmoxve.VmLegacyAgentArgs(enabled=agent),
            stop_on_destroy=not agent,
            on_boot=True,
            started=True,
            opts=pulumi.ResourceOptions(
                parent=self,
                provider=platform.provider,
                ignore_changes=["disks[0].importFrom", "initialization"],
                hooks=args.gates,
                protect=node.is_controlplane,
                delete_before_replace=True,
            ),
        )
        self.provisioned = ProvisionedNode(name, str(node.address), resources=(vm,), component=self)


def _settings(topology: Topology) -> ProxmoxSettings:
    assert isinstance(topology.platform, ProxmoxSettings)  # noqa: S101 - PLATFORMS has chosen this module by its kind
    return topology.platform


def _node(node: NodeModel) -> ProxmoxNode:
    assert isinstance(node, ProxmoxNode)  # noqa: S101 - the topology gives every platform its own nodes
    return node


def _tpm(node: ProxmoxNode, settings: ProxmoxSettings) -> proxmoxve.VmLegacyTpmStateArgs | None:
    return proxmoxve.VmLegacyTpmStateArgs(datastore_id=settings.datastore, version="v2.0") if node.tpm else None


def _system_disk(node: ProxmoxNode, settings: ProxmoxSettings, platform: Platform) -> proxmoxve.VmLegacyDiskArgs:
    return proxmoxve.VmLegacyDiskArgs(
        interface="scsi0",
        datastore_id=settings.datastore,
        import_from=platform.image(node).id,
        size=node.disk_size,
        discard="on",
        ssd=True,
        iothread=True,
    )


def _cloud_init(
    topology: Topology, node: ProxmoxNode, settings: ProxmoxSettings
) -> proxmoxve.VmLegacyInitializationArgs:
    site = topology.site_of(node)
    address = f"{node.address}/{topology.prefix_length_of(node)}"
    return proxmoxve.VmLegacyInitializationArgs(
        datastore_id=settings.datastore,
        dns=proxmoxve.VmLegacyInitializationDnsArgs(servers=[str(server) for server in site.nameservers]),
        ip_configs=[
            proxmoxve.VmLegacyInitializationIpConfigArgs(
                ipv4=proxmoxve.VmLegacyInitializationIpConfigIpv4Args(address=address, gateway=str(site.gateway))
            )
        ],
    )


def _pci(device: PciDevice) -> proxmoxve.VmLegacyHostpciArgs:
    return proxmoxve.VmLegacyHostpciArgs(
        device=str(device.device),
        mapping=device.mapping,
        pcie=device.pcie,
        rombar=device.rombar,
        xvga=device.xvga,
    )
