"""What the lab takes of a stack file's bare-metal nodes: the disks that they name and the ports of their bond."""

from typing import Any

from lab.bare_metal import machine
from lab.machine.hardware import Hardware

NODE = {"name": "w-1", "role": "worker", "address": "10.1.0.21"}
SATA = "/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0"
NVME = "/pci0000:c0/0000:c0:01.1/0000:c1:00.0/nvme"
LINK = {"link": {"name": "bond0", "bond": {"members": ["0000:18:00.0", "0000:18:00.1"]}}}


def built(platform: Any = None, **node: Any) -> Hardware:
    return Hardware.read(machine({**NODE, **node}, platform or {}, "v1.13.9"))


def test_the_disk_of_the_installation_comes_first_and_the_others_after_it() -> None:
    found = built(disks={"local": {"busPath": NVME}, "system": {"busPath": SATA}}, installDisk="system")
    assert [disk.bus_path for disk in found.disks] == [SATA, NVME]
    assert [disk.name for disk in found.disks] == ["/dev/sda", "/dev/nvme0n1"]


def test_an_install_disk_without_a_name_is_a_disk_too() -> None:
    found = built(disks={"local": {"serial": "S2"}}, installDisk={"serial": "S1"})
    assert [disk.serial for disk in found.disks] == ["S1", "S2"]


def test_ports_are_those_of_the_bond_and_a_nodes_own_come_before_the_platforms() -> None:
    assert built(LINK).ports == ("0000:18:00.0", "0000:18:00.1")
    assert built(LINK, link={"name": "bond0", "bond": {"members": ["0000:3b:00.0"]}}).ports == ("0000:3b:00.0",)
    assert built(LINK, link={"name": "eno1"}).ports == ()


def test_odd_content_makes_a_plain_machine() -> None:
    for node in ({"disks": 3}, {"installDisk": 3}, {"disks": {"a": 3}, "installDisk": "b"}, {"link": "x"}):
        found = built({"link": []}, **node)
        assert (len(found.disks), found.ports) == (1, ())
