"""The rules that hold between the parts of a topology, in the order their faults are told."""

from topology.rules import images, mirrors, network, nodes, secrets, subnets, versions, zones
from topology.rules.rule import Rule

_ROLES = (("nodes", "*", "role"),)
_ZONES = (("zones", "*"), ("nodes", "*", "zone"))
_TALOS = (("versions", "talos"),)
_SUBNETS = (("network", "podSubnets", "*"), ("network", "serviceSubnets", "*"))

RULES: tuple[Rule, ...] = (
    Rule(versions.talos_is_supported, reads=_TALOS),
    Rule(versions.kubernetes_is_supported, reads=(*_TALOS, ("versions", "kubernetes"))),
    Rule(versions.contract_is_not_ahead, reads=(*_TALOS, ("versions", "contract"))),
    Rule(versions.provider_knows_contract, reads=(("versions", "contract"),)),
    Rule(versions.talos_is_not_newer_than_the_provider, warning=True),
    Rule(secrets.secrets_have_one_source, reads=(("secrets", "*"),)),
    Rule(network.endpoint_is_known, reads=(*_ROLES, ("network", "vip"), ("endpoint",))),
    Rule(network.endpoint_is_no_node, reads=_ROLES),
    Rule(network.networks_are_of_machines),
    Rule(network.networks_are_disjoint, reads=_SUBNETS),
    Rule(subnets.families_match, reads=_SUBNETS),
    Rule(subnets.nodes_have_the_pods_families, warning=True),
    Rule(subnets.service_subnets_have_a_size),
    Rule(subnets.pod_subnets_have_room),
    Rule(network.gateway_is_in_the_node_network, reads=(("network", "nodes"),)),
    Rule(network.vip_is_on_the_control_planes_network, reads=(("network", "nodes"),)),
    Rule(network.shared_addresses_are_no_node, reads=(("nodes",),)),
    Rule(nodes.names_are_unique),
    Rule(network.addresses_are_unique),
    Rule(network.addresses_are_in_the_node_network, reads=(("network", "nodes"),)),
    Rule(network.addresses_are_machines),
    Rule(nodes.some_node_is_a_control_plane, reads=_ROLES),
    Rule(nodes.control_planes_are_odd, warning=True),
    Rule(nodes.quorum_loss_is_accepted_of_two, reads=_ROLES),
    Rule(nodes.some_node_takes_pods, warning=True),
    Rule(nodes.bootstrap_node_is_a_control_plane, reads=(*_ROLES, ("nodes", "*", "name"))),
    Rule(images.images_are_declared, reads=(("images", "*"),)),
    Rule(images.images_are_used, warning=True, reads=(("nodes", "*", "image"),)),
    Rule(images.extensions_exist, reads=_TALOS),
    Rule(nodes.zones_are_declared, reads=(("zones", "*"),)),
    Rule(zones.zones_survive_the_loss_of_one, reads=(*_ROLES, *_ZONES)),
    Rule(zones.storage_survives_the_loss_of_a_zone, reads=_ZONES),
    Rule(zones.storage_zones_are_odd, warning=True),
    Rule(zones.zones_have_nodes, warning=True, reads=_ZONES),
    Rule(zones.zone_networks_are_routed, reads=(("network", "nodes"),)),
    Rule(zones.zone_gateways_are_in_their_network, reads=(("network", "nodes"),)),
    Rule(zones.zones_hold_their_nodes, reads=(("network", "nodes"), *_ZONES)),
    Rule(mirrors.mirrors_come_from_a_zone_that_has_some, reads=(("zones", "*"),)),
    Rule(mirrors.mirrors_of_a_registry_have_paths_or_none),
    Rule(mirrors.mirrors_with_a_path_have_the_registry_in_it, warning=True),
    Rule(zones.load_balancers_have_a_name),
    Rule(nodes.waivers_name_nodes, reads=(("nodes", "*", "name"),)),
)
