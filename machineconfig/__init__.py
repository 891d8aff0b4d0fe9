"""Pure text work on the machine configuration: render the files of `patches/`, check what came out, name images."""

from machineconfig.context import NodeFacts
from machineconfig.model import Patch
from machineconfig.plan import Plan, PlanError, make_plan
from machineconfig.schematic import DiskImage, Schematic, UnknownFormatError, disk_image, installer
