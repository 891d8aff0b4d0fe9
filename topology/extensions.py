"""The system extensions that Sidero Labs publishes, and the Talos minor version 1.x that each came with.

The Image Factory names an unknown extension only when the image is fetched, in the middle of a run; this list says it
before. It was read from the build lists of the release branches 1.10 to 1.14 of siderolabs/extensions. When a new
extension is out, it is one line here.
"""

_SINCE = {
    10: """
        amazon-ena amd-ucode amdgpu binfmt-misc bnx2-bnx2x btrfs chelsio-drivers chelsio-firmware cloudflared crun ctr
        drbd dvb-cx23885 ecr-credential-provider fuse3 gasket-driver glibc gvisor gvisor-debug hello-world-service i915
        intel-ice-firmware intel-ucode iscsi-tools kata-containers lldpd mdadm mei metal-agent nebula nfsd
        nonfree-kmod-nvidia-lts nonfree-kmod-nvidia-production nut-client nvidia-container-toolkit-lts
        nvidia-container-toolkit-production nvidia-fabricmanager-lts nvidia-fabricmanager-production
        nvidia-open-gpu-kernel-modules-lts nvidia-open-gpu-kernel-modules-production nvme-cli panfrost
        qemu-guest-agent qlogic-firmware realtek-firmware revpi-firmware spin stargz-snapshotter tailscale thunderbolt
        uinput usb-modem-drivers util-linux-tools v4l-uvc-drivers vc4 vmtoolsd-guest-agent wasmedge xdma-driver
        xen-guest-agent youki zerotier zfs
    """,
    11: "dvb-m88ds3103 hailort newt nfsrahead tenstorrent",
    12: """
        bird2 gpio-pinctrl mellanox-mstflint multipath-tools netbird nfs-utils nvidia-gdrdrv-device soci-snapshotter
        trident-iscsi-tools usb-audio-drivers xe
    """,
    13: "intel-npu joydev px-fuse rockchip-rknn uhid",
    14: "harbor-credential-provider hyperv-guest-agent kata-containers-snp",
}

EXTENSIONS: dict[str, int] = {f"siderolabs/{name}": minor for minor, names in _SINCE.items() for name in names.split()}
