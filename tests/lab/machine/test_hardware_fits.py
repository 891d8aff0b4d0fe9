"""A configuration that does not fit the hardware: no such disk, no such port, an address on another link."""

import pytest

from lab.machine.configuration import read
from lab.machine.disks import chosen
from lab.machine.hardware import Disk
from lab.machine.links import why_lost
from lab.machine.settings import Settings
from tests.lab.machine.lab import Lab, until

BOND = """\
machine:
  network:
    interfaces:
      - interface: bond0
        bond: {mode: 802.3ad, deviceSelectors: [{busPath: "0000:18:00.0"}, {busPath: "0000:18:00.1"}]}
        vlans: [{vlanId: 110, addresses: [10.1.0.11/24], vip: {ip: 10.1.0.5}}]
"""
DISKS = (Disk(bus_path="/pci0/ata1", serial="S1"), Disk(name="/dev/nvme0n1", bus_path="/pci0/nvme", type="nvme"))


def settings(lab: Lab, patch: str) -> Settings:
    return read(lab.configuration("cp-1", "controlplane", patch))


@pytest.mark.parametrize(
    ("install", "name"),
    [
        ({"disk": "/dev/disk/by-id/x"}, "/dev/sda"),
        ({"diskSelector": {"busPath": "/pci0/ata1"}}, "/dev/sda"),
        ({"diskSelector": {"busPath": "/pci0/n*"}}, "/dev/nvme0n1"),
        ({"diskSelector": {"type": "nvme", "serial": "S1"}}, None),
        ({"diskSelector": {"busPath": "/pci0/ata1/"}}, None),
        ({}, "/dev/sda"),
    ],
)
def test_a_selector_takes_the_disk_that_fits(install: dict[str, object], name: str | None) -> None:
    disk = chosen(install, DISKS)
    assert (disk.name if disk else None) == name


def test_addresses_and_vips_of_vlans_count(lab: Lab) -> None:
    found = settings(lab, BOND)
    assert (found.addresses, found.vips) == (("10.1.0.11",), ("10.1.0.5",))


def test_a_bond_needs_one_of_its_ports(lab: Lab) -> None:
    documents = settings(lab, BOND).documents
    assert why_lost(documents, ()) == why_lost(documents, ("0000:18:00.1", "0000:3b:00.0")) == ""
    assert why_lost(documents, ("0000:3b:00.0",)) == "bond0 has none of the ports 0000:18:00.0, 0000:18:00.1"


def test_a_vip_on_a_vlan_without_an_address_loses_the_machine(lab: Lab) -> None:
    assert "shared address" in why_lost(settings(lab, BOND.replace("addresses: [10.1.0.11/24], ", "")).documents, ())


async def test_without_a_fitting_disk_nothing_is_installed(lab: Lab) -> None:
    machine = await lab.in_maintenance("cp-1", 11)
    selector = "machine: {install: {diskSelector: {serial: none-of-them}}}\n"
    await lab.apply(machine, lab.configuration("cp-1", "controlplane", selector))
    failed = await until(lambda: lab.events("install-failed"), "the failure")
    assert failed[0]["why"] == "no disk matched the disk selector"
    assert not machine.disk.installed
