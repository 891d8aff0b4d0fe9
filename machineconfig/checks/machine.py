"""Host name, kernel arguments, labels and taints: settings that Talos or Kubernetes takes in one place only."""

from collections.abc import Iterator

from findings import Finding, written
from machineconfig.checks.subject import Part, Subject
from machineconfig.context import HOSTNAME_DOCUMENT, NodeFacts
from machineconfig.deletes import MARK
from machineconfig.documents import Entry
from machineconfig.levels import levels

_HOSTNAME = ("machine", "network", "hostname")
_KERNEL_ARGUMENTS = ("machine", "install", "extraKernelArgs")
_BOOT_IMAGES = ("machine", "install", "grubUseUKICmdline")
_KUBELET_LABELS = ("machine", "kubelet", "extraArgs", "node-labels")
_ETCD = ("cluster", "etcd")

_CONTROL_PLANE = (
    *(("cluster", name) for name in ("apiServer", "controllerManager", "scheduler", "proxy", "coreDNS")),
    *(("cluster", name) for name in ("inlineManifests", "extraManifests", "extraManifestHeaders")),
    *(("cluster", name) for name in ("adminKubeconfig", "externalCloudProvider", "allowSchedulingOnControlPlanes")),
    ("cluster", "network", "cni"),
    ("machine", "controlPlane"),
    ("machine", "features", "kubernetesTalosAPIAccess"),
)

# What kubelet may set on its own Node (NodeRestriction; k8s.io/kubelet, well_known_labels.go).
_OWN_LABELS = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
    }
)
_LATER = "set it through the Kubernetes API after the node has joined, or choose another prefix"
_OWN_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBERNETES = ("kubernetes.io", "k8s.io")


def has_the_host_name_in_its_place(subject: Subject) -> Iterator[Finding]:
    """The contract decides where a host name is set, and the topology what it is."""
    contract, name = subject.topology.versions.contract, subject.node.name
    document = contract >= HOSTNAME_DOCUMENT
    for part, entry in subject.fields(*_HOSTNAME):
        if document and not entry.is_empty:
            message = f"{written(_HOSTNAME)} is refused from contract {HOSTNAME_DOCUMENT} on (here {contract})"
            yield subject.finding(part, entry, message, "leave it out: 10-hostname writes HostnameConfig")
        elif entry.text != name and not entry.is_empty:
            yield subject.finding(part, entry, _other_name(part.shown(entry), name), "leave it out")
    for part in subject.of_kind("HostnameConfig"):
        hostname = part.document.root.get("hostname")
        if not document:
            message = f"HostnameConfig is refused below contract {HOSTNAME_DOCUMENT} (here {contract})"
            yield subject.finding(part, None, message, f"leave it out: 10-hostname writes {written(_HOSTNAME)}")
        elif hostname is not None and hostname.text != name:
            yield subject.finding(part, hostname, _other_name(part.shown(hostname), name), "leave it out")


def has_a_fixed_host_name_or_an_automatic_one(subject: Subject) -> Iterator[Finding]:
    """A host name goes with `auto: off` only; the last patch that says `auto` decides."""
    last, named = None, False
    for part in subject.of_kind("HostnameConfig"):
        auto = part.document.root.get("auto")
        named = named or part.document.root.get("hostname") is not None
        last = (part, auto) if auto is not None else last
    if named and last is not None and last[1].text != "off":
        message = f"HostnameConfig has auto: {last[0].shown(last[1])} beside a host name"
        yield subject.finding(last[0], last[1], message, 'write auto: "off"')
    elif named and last is None:
        part = next(subject.of_kind("HostnameConfig"))
        yield subject.finding(part, None, "HostnameConfig has a host name without auto", 'add auto: "off"')


def installs_the_image_of_the_topology(subject: Subject) -> Iterator[Finding]:
    """Another installer would change platform, extensions or version at the next upgrade."""
    wanted = NodeFacts(subject.topology, subject.node).installer
    for part, entry in subject.fields("machine", "install", "image"):
        if entry.text != wanted:
            message = f"installs {part.shown(entry)}; the topology says {wanted}"
            cure = f"set versions.talos or images.{subject.node.image} in the stack file instead"
            yield subject.finding(part, entry, message, cure)


def leaves_kernel_arguments_to_the_schematic(subject: Subject) -> Iterator[Finding]:
    """From contract v1.12 on the boot image's own command line counts, and Talos refuses both together.

    If GRUB builds the command line instead (grubUseUKICmdline: false) arguments are allowed.
    """
    contract = subject.topology.versions.contract
    if [entry.text for _, entry in subject.fields(*_BOOT_IMAGES)][-1:] == ["false"]:
        return
    for part, entry in subject.fields(*_KERNEL_ARGUMENTS):
        if contract >= HOSTNAME_DOCUMENT and entry.items:
            message = f"{written(_KERNEL_ARGUMENTS)} is refused from contract v1.12 on (here {contract})"
            cure = f"put the arguments into images.{subject.node.image}.extraKernelArgs in the stack file"
            yield subject.finding(part, entry, message, cure)


def sets_no_forbidden_label_on_a_worker(subject: Subject) -> Iterator[Finding]:
    """One label that Kubernetes forbids a worker to set on itself makes all of them fail, silently."""
    for part, entry in _given_to_a_worker(subject, "nodeLabels"):
        if not _may_set(str(entry.path[-1])):
            message = f"a worker may not give itself the label {part.key(entry)}; none of its labels would be set"
            yield subject.finding(part, entry, message, _LATER)


def lets_kubelet_start_with_labels_of_its_own(subject: Subject) -> Iterator[Finding]:
    """kubelet's argument node-labels has no label that Kubernetes forbids a node: it would not even start."""
    for part, labels in subject.fields(*_KUBELET_LABELS):
        for entry in labels.items or (labels,):
            for label in (each.partition("=")[0].strip() for each in entry.text.split(",")):
                if not _may_set(label):
                    message = f"kubelet does not start with the label {label}, which a node may not give itself"
                    yield subject.finding(part, entry, message, _LATER)


def sets_no_taint_on_a_worker(subject: Subject) -> Iterator[Finding]:
    """A worker may not change its own taints; it can register with some."""
    for part, entry in _given_to_a_worker(subject, "nodeTaints"):
        message = f"a worker may not give itself the taint {part.key(entry)}"
        cure = "use machine.kubelet.extraConfig.registerWithTaints, which counts when the node registers"
        yield subject.finding(part, entry, message, cure)


def _given_to_a_worker(subject: Subject, key: str) -> Iterator[tuple[Part, Entry]]:
    """What a map below machine has for a worker, and does not delete."""
    for part, given in subject.fields("machine", key) if not subject.node.is_controlplane else ():
        yield from ((part, entry) for entry in given.keys if entry.get(MARK) is None and entry.path[-1] != MARK)


def has_no_etcd_on_a_worker(subject: Subject) -> Iterator[Finding]:
    """Talos refuses etcd settings on a worker, also when they are only to be deleted."""
    if subject.node.is_controlplane:
        return
    for part, entry in subject.fields(*_ETCD):
        yield subject.finding(part, entry, "a worker has no cluster.etcd", "move it to a patch in controlplane/")


def keeps_control_plane_settings_off_workers(subject: Subject) -> Iterator[Finding]:
    """No setting for control planes is only given to workers, which ignore it; none of their secrets is."""
    if subject.node.is_controlplane:
        return
    # What control planes have too does there what it says.
    shared = {level for node in subject.topology.controlplanes for level in levels(subject.topology, node)}
    for path in _CONTROL_PLANE:
        for part, entry in subject.fields(*path):
            if entry.is_empty or entry.get(MARK) is not None:
                continue
            cure = "move it to a patch in controlplane/"
            if part.patch.is_secret:
                message = f"{written(path)} is for control planes, and this gives a worker the secret beside it"
                yield subject.finding(part, entry, message, cure)
            elif part.level not in shared:
                message = f"{written(path)} is for control planes, and a worker ignores it"
                yield subject.finding(part, entry, message, cure)


def _other_name(given: str, name: str) -> str:
    return f"names the machine {given}; the topology calls it {name}"


def _may_set(label: str) -> bool:
    namespace = label.rpartition("/")[0]
    if not _within(namespace, _KUBERNETES):
        return True
    return label in _OWN_LABELS or _within(namespace, _OWN_NAMESPACES)


def _within(namespace: str, parents: tuple[str, ...]) -> bool:
    return any(namespace == parent or namespace.endswith(f".{parent}") for parent in parents)
