"""What is refused of rendered patches before anything happens. A new check is a function and a line in CHECKS."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from machineconfig.checks import collisions, machine, network, yaml_text
from machineconfig.checks.subject import Subject
from machineconfig.model import Finding, Patch, said_once
from topology import Topology

Check = Callable[[Subject], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    yaml_text.is_yaml,
    yaml_text.sets_each_key_once,
    yaml_text.is_a_mapping,
    yaml_text.has_kind_and_version,
    collisions.is_described_once_in_a_level,
    collisions.has_no_rival,
    collisions.is_not_said_in_machine_too,
    collisions.has_a_possible_volume_name,
    network.describes_each_interface_once,
    network.names_or_selects_an_interface,
    network.does_not_mix_documents_and_fields,
    network.has_the_addresses_of_the_topology,
    network.leaves_dhcp_off_where_the_address_is_given,
    network.has_the_vip_on_control_planes_only,
    machine.has_the_host_name_in_its_place,
    machine.has_a_fixed_host_name_or_an_automatic_one,
    machine.installs_the_image_of_the_topology,
    machine.leaves_kernel_arguments_to_the_schematic,
    machine.sets_no_forbidden_label_on_a_worker,
    machine.sets_no_taint_on_a_worker,
    machine.has_no_etcd_on_a_worker,
)
"""In the order in which their findings are said."""


def check_patches(topology: Topology, patches: Mapping[str, Sequence[Patch]]) -> tuple[Finding, ...]:
    """Everything that is wrong with the rendered patches of some nodes, by name, all at once. Empty if nothing is."""
    subjects = [Subject(topology, topology.node(name), rendered) for name, rendered in patches.items()]
    return said_once(finding for check in CHECKS for subject in subjects for finding in check(subject))
