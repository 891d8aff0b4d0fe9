"""What is refused before anything happens. A new check is a function, and a line with its id in PATCH_CHECKS."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from findings import Finding, said_once
from machineconfig.checks import (
    collisions,
    disks,
    encryption,
    final,
    firewall,
    interfaces,
    links,
    lists,
    machine,
    mounts,
    network,
    own_link,
    owned,
    pods,
    registries,
    secrets,
    structure,
    talosctl,
    unset,
    values,
    yaml_text,
)
from machineconfig.checks.configuration import Final, made
from machineconfig.checks.repeated import OWNED, REFUSED, SAYS_MORE, UNREAD, is_the_same
from machineconfig.checks.subject import Subject
from machineconfig.checks.waivers import waived, waiver_faults
from machineconfig.model import Patch
from machineconfig.placeholder import shown_finding
from topology import Topology

S = TypeVar("S")


@dataclass(frozen=True)
class Check(Generic[S]):
    """One check: the id that its findings end with and that waivers name, and what finds them."""

    id: str
    find: Callable[[S], Iterator[Finding]]
    warning: bool = False
    """Whether what it finds is a warning instead of a fault."""
    of_values: bool = False
    """Whether it finds nothing where a placeholder stands for the value: of that nobody knows yet."""

    @property
    def says(self) -> str:
        """What must be so, in a sentence or two."""
        return " ".join((self.find.__doc__ or "").split())

    def findings(self, subject: S) -> Iterator[Finding]:
        """What is wrong with a node, with the id."""
        return (shown_finding(replace(finding, check=self.id)) for finding in self.find(subject))


PATCH_CHECKS: tuple[Check[Subject], ...] = (
    Check("template-in-plain-file", yaml_text.is_a_template_by_its_name),
    Check("yaml", yaml_text.is_yaml),
    Check("key-twice", yaml_text.sets_each_key_once),
    Check("mapping", yaml_text.is_a_mapping),
    Check("json-patch", yaml_text.is_no_json_patch),
    Check("kind-and-version", yaml_text.has_kind_and_version),
    Check("unknown-kind", structure.has_documents_that_talos_knows),
    Check("unknown-key", structure.has_keys_that_talos_knows),
    Check("patch-word", structure.deletes_or_merges),
    Check("wrong-type", structure.has_values_of_the_right_type),
    Check("read-differently", values.means_what_is_written),
    Check("null-deletes-nothing", values.deletes_by_patch_and_not_by_null),
    Check("document-twice", collisions.is_described_once_in_a_level),
    Check("document-rivals", collisions.has_no_rival),
    Check("document-and-field", collisions.is_not_said_in_machine_too),
    Check("volume-name", collisions.has_a_possible_volume_name),
    Check("interface-twice", interfaces.describes_each_interface_once),
    Check("vlan-twice", interfaces.describes_each_vlan_once),
    Check("interface-named-and-selected", interfaces.names_or_selects_an_interface),
    Check("interface-in-two-forms", interfaces.does_not_mix_documents_and_fields),
    Check("address", network.has_the_addresses_of_the_topology),
    Check("dhcp-beside-address", network.leaves_dhcp_off_where_the_address_is_given),
    Check("vip", network.has_the_vip_on_control_planes_only),
    Check("vip-twice", network.gives_the_vip_once),
    Check("own-link", own_link.leaves_the_link_as_the_stack_file_has_it),
    Check("host-name", machine.has_the_host_name_in_its_place),
    Check("host-name-auto", machine.has_a_fixed_host_name_or_an_automatic_one),
    Check("installer", machine.installs_the_image_of_the_topology),
    Check("machine-secrets", secrets.leaves_machine_secrets_to_the_stack),
    Check("kernel-arguments", machine.leaves_kernel_arguments_to_the_schematic),
    Check("worker-label", machine.sets_no_forbidden_label_on_a_worker),
    Check("kubelet-label", machine.lets_kubelet_start_with_labels_of_its_own),
    Check("worker-taint", machine.sets_no_taint_on_a_worker),
    Check("worker-etcd", machine.has_no_etcd_on_a_worker),
    Check("control-plane-only", machine.keeps_control_plane_settings_off_workers),
)
"""Of rendered patches, in the order in which their findings are said."""

WARNING_CHECKS: tuple[Check[Subject], ...] = (Check("secret-in-clear", secrets.asks_for_its_secrets),)
"""Of rendered patches: what is allowed and worth a second look."""

FINAL_CHECKS: tuple[Check[Final], ...] = (
    Check(REFUSED, final.is_what_talos_takes, of_values=True),
    Check(OWNED, owned.has_what_the_topology_says, of_values=True),
    Check("api-certificate", final.names_every_address_of_the_api),
    Check("machine-certificate", final.names_every_address_of_the_node),
    Check("kubelet-subnets", final.lets_kubelet_choose_the_nodes_address),
    Check("etcd-subnets", final.lets_etcd_choose_the_nodes_address),
    Check("size", final.is_as_small_as_the_platform_wants),
    Check("tpm-key", encryption.seals_keys_with_a_tpm_that_is_there),
    Check("whole-disk", disks.takes_disks_that_are_free, of_values=True),
    Check("whole-disk-guess", disks.names_the_disk_it_takes, warning=True),
    Check("mount", mounts.mounts_volumes_and_hides_none, warning=True, of_values=True),
    Check("firewall-locks-out", firewall.lets_in_who_must),
    Check("firewall-drops-answers", firewall.lets_answers_in),
    Check("vlan-mtu", links.carries_its_vlans, of_values=True),
    Check("node-mask", pods.cuts_pod_networks_into_pieces, of_values=True),
    Check("mirror-path", registries.has_paths_where_nothing_is_added, of_values=True),
    Check("unused-credential", registries.sends_its_credentials_somewhere, warning=True),
    Check("empty-unsets-nothing", unset.changes_what_it_overrides),
    Check("list-doubles", lists.says_each_entry_once),
    Check("free-list-doubles", lists.says_each_free_entry_once),
    Check("free-list-repeats", lists.repeats_nothing_that_is_passed_over, warning=True),
    Check("talos-warns", final.is_what_talos_takes_without_a_warning, warning=True, of_values=True),
)
"""Of final configurations."""

_WARNINGS = frozenset((*(check.id for check in WARNING_CHECKS), *(check.id for check in FINAL_CHECKS if check.warning)))

_NOT_MADE = "cannot-be-merged"
RULES: Mapping[str, str] = {
    **{check.id: check.says for check in (*PATCH_CHECKS, *WARNING_CHECKS)},
    _NOT_MADE: "The provider can merge every patch into the configuration.",
    **{check.id: check.says for check in FINAL_CHECKS},
    talosctl.ID: " ".join((talosctl.is_what_talosctl_takes.__doc__ or "").split()),
}
"""What can be waived: the id of every check, and what must be so."""


@dataclass(frozen=True)
class Checked:
    """Everything that is wrong and all that is warned of, but for what is waived."""

    found: tuple[Finding, ...]
    warnings: tuple[Finding, ...]


def patch_findings(
    topology: Topology, patches: Mapping[str, Sequence[Patch]], checks: Sequence[Check[Subject]] = PATCH_CHECKS
) -> Iterator[Finding]:
    """What checks say of the rendered patches of some nodes, by name, each node for itself."""
    nodes = {node.name: node for node in topology.nodes}
    found: list[list[Finding]] = [[] for _ in checks]
    for name, rendered in patches.items():  # node by node, so that what is read of a node is read once and let go
        subject = Subject(topology, nodes[name], rendered)
        for check, findings in zip(checks, found, strict=True):
            findings.extend(check.findings(subject))
    return itertools.chain.from_iterable(found)


def final_findings(
    topology: Topology, patches: Mapping[str, Sequence[Patch]], said: Iterable[Finding] = ()
) -> Iterator[Finding]:
    """Everything that is wrong with the final configurations, but for what was said of the same line of a patch.

    A node whose patches were found faulty may have no configuration, and then nothing more is said of it. Where only
    some keys or values cannot be read, all the rest is checked.
    """
    before = [finding for finding in said if not waived(topology, finding)]
    faulty = {node for finding in before for node in finding.place.nodes}
    unread = {node for finding in before if finding.check in UNREAD for node in finding.place.nodes}
    finals, nodes = [], {node.name: node for node in topology.nodes}
    for name, rendered in patches.items():
        final = made(topology, nodes[name], rendered, lenient=name in unread)
        if isinstance(final, Final):
            finals.append(final)
        elif name not in faulty:
            yield shown_finding(replace(final, check=_NOT_MADE))
    told = [
        finding
        for check in FINAL_CHECKS
        for final in finals
        for finding in check.findings(final)
        if not (check.of_values and final.is_about_a_placeholder(finding))
    ]
    before += [finding for finding in told if finding.check in SAYS_MORE and not waived(topology, finding)]
    by_talos = (finding for finding in (*told, *before) if finding.check in (REFUSED, OWNED))
    refused = faulty.union(*(finding.place.nodes for finding in by_talos))
    # Talos's own validator would say in its words what was said already.
    rest = [final for final in finals if final.node.name not in refused]
    told += [shown_finding(replace(finding, check=talosctl.ID)) for finding in talosctl.is_what_talosctl_takes(rest)]
    yield from (finding for finding in told if not any(is_the_same(finding, other) for other in before))


def check_all(topology: Topology, patches: Mapping[str, Sequence[Patch]], *, complete: bool = True) -> Checked:
    """Check patches and final configurations, and the waivers.

    Not `complete` are the patches where some node has none; then no waiver is said to be needless.
    """
    of_patches = list(patch_findings(topology, patches, (*PATCH_CHECKS, *WARNING_CHECKS)))
    doubted = [finding for finding in of_patches if finding.check in _WARNINGS]
    found = [finding for finding in of_patches if finding.check not in _WARNINGS]
    found += (*final_findings(topology, patches, found), *doubted)
    kept = said_once(finding for finding in found if not waived(topology, finding))
    wrong = (finding for finding in kept if finding.check not in _WARNINGS)
    warnings = tuple(finding for finding in kept if finding.check in _WARNINGS)
    sure = RULES.keys() if complete else ()
    return Checked((*waiver_faults(topology, found, RULES, sure=sure), *wrong), warnings)
