"""Simulated Talos machines that speak the real protocol."""

from lab.machine.hardware import Disk, Hardware, HardwareError
from lab.machine.machine import Machine
from lab.machine.world import MachineWorld

__all__ = ["Disk", "Hardware", "HardwareError", "Machine", "MachineWorld"]
