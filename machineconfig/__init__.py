"""Pure text work on the machine configuration: render the files of `patches/`, check what came out, name images."""

from machineconfig.checks import check_patches
from machineconfig.context import NodeFacts
from machineconfig.model import Patch, RenderingError
from machineconfig.plan import Plan, PlanError, make_plan
from machineconfig.render import render_cluster, render_node
from machineconfig.schematic import DiskImage, Schematic, UnknownFormatError, disk_image, installer
