"""The rules that hold between the parts of a topology, in the order their faults are told."""

from topology.rules.images import extensions_exist, images_are_declared, images_are_used
from topology.rules.mirrors import (
    mirrors_come_from_a_zone_that_has_some,
    mirrors_of_a_registry_have_paths_or_none,
    mirrors_with_a_path_have_the_registry_in_it,
)
from topology.rules.network import (
    addresses_are_in_the_node_network,
    addresses_are_machines,
    addresses_are_unique,
    endpoint_is_known,
    endpoint_is_no_node,
    gateway_is_in_the_node_network,
    networks_are_disjoint,
    networks_are_of_machines,
    shared_addresses_are_no_node,
    vip_is_on_the_control_planes_network,
)
from topology.rules.nodes import (
    bootstrap_node_is_a_control_plane,
    control_planes_are_odd,
    names_are_unique,
    quorum_loss_is_accepted_of_two,
    some_node_is_a_control_plane,
    some_node_takes_pods,
    waivers_name_nodes,
    zones_are_declared,
)
from topology.rules.rule import Rule
from topology.rules.secrets import secrets_have_one_source
from topology.rules.subnets import (
    families_match,
    nodes_have_the_pods_families,
    pod_subnets_have_room,
    service_subnets_have_a_size,
)
from topology.rules.versions import (
    contract_is_not_ahead,
    kubernetes_is_supported,
    provider_knows_contract,
    talos_is_not_newer_than_the_provider,
    talos_is_supported,
)
from topology.rules.zones import (
    load_balancers_have_a_name,
    storage_survives_the_loss_of_a_zone,
    storage_zones_are_odd,
    zone_gateways_are_in_their_network,
    zone_networks_are_routed,
    zones_have_nodes,
    zones_hold_their_nodes,
    zones_survive_the_loss_of_one,
)

_ROLES = (("nodes", "*", "role"),)
_ZONES = (("zones", "*"), ("nodes", "*", "zone"))
_TALOS = (("versions", "talos"),)
_SUBNETS = (("network", "podSubnets", "*"), ("network", "serviceSubnets", "*"))

RULES: tuple[Rule, ...] = (
    Rule(talos_is_supported, reads=_TALOS),
    Rule(kubernetes_is_supported, reads=(*_TALOS, ("versions", "kubernetes"))),
    Rule(contract_is_not_ahead, reads=(*_TALOS, ("versions", "contract"))),
    Rule(provider_knows_contract, reads=(("versions", "contract"),)),
    Rule(talos_is_not_newer_than_the_provider, warning=True),
    Rule(secrets_have_one_source, reads=(("secrets", "*"),)),
    Rule(endpoint_is_known, reads=(*_ROLES, ("network", "vip"), ("endpoint",))),
    Rule(endpoint_is_no_node, reads=_ROLES),
    Rule(networks_are_of_machines),
    Rule(networks_are_disjoint, reads=_SUBNETS),
    Rule(families_match, reads=_SUBNETS),
    Rule(nodes_have_the_pods_families, warning=True),
    Rule(service_subnets_have_a_size),
    Rule(pod_subnets_have_room),
    Rule(gateway_is_in_the_node_network, reads=(("network", "nodes"),)),
    Rule(vip_is_on_the_control_planes_network, reads=(("network", "nodes"),)),
    Rule(shared_addresses_are_no_node, reads=(("nodes",),)),
    Rule(names_are_unique),
    Rule(addresses_are_unique),
    Rule(addresses_are_in_the_node_network, reads=(("network", "nodes"),)),
    Rule(addresses_are_machines),
    Rule(some_node_is_a_control_plane, reads=_ROLES),
    Rule(control_planes_are_odd, warning=True),
    Rule(quorum_loss_is_accepted_of_two, reads=_ROLES),
    Rule(some_node_takes_pods, warning=True),
    Rule(bootstrap_node_is_a_control_plane, reads=(*_ROLES, ("nodes", "*", "name"))),
    Rule(images_are_declared, reads=(("images", "*"),)),
    Rule(images_are_used, warning=True, reads=(("nodes", "*", "image"),)),
    Rule(extensions_exist, reads=_TALOS),
    Rule(zones_are_declared, reads=(("zones", "*"),)),
    Rule(zones_survive_the_loss_of_one, reads=(*_ROLES, *_ZONES)),
    Rule(storage_survives_the_loss_of_a_zone, reads=_ZONES),
    Rule(storage_zones_are_odd, warning=True),
    Rule(zones_have_nodes, warning=True, reads=_ZONES),
    Rule(zone_networks_are_routed, reads=(("network", "nodes"),)),
    Rule(zone_gateways_are_in_their_network, reads=(("network", "nodes"),)),
    Rule(zones_hold_their_nodes, reads=(("network", "nodes"), *_ZONES)),
    Rule(mirrors_come_from_a_zone_that_has_some, reads=(("zones", "*"),)),
    Rule(mirrors_of_a_registry_have_paths_or_none),
    Rule(mirrors_with_a_path_have_the_registry_in_it, warning=True),
    Rule(load_balancers_have_a_name),
    Rule(waivers_name_nodes, reads=(("nodes", "*", "name"),)),
)
