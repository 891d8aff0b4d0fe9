"""What a machine refuses, check by check."""

import pytest

from findings import Path
from machinery import ConfigError, parse_configuration, validate
from machinery.structure import DOCUMENTS as DOCUMENTS_OF_TALOS
from machinery.structure import V1ALPHA1, Anything, ListOf, MapOf, Struct, Type
from tests.machinery.texts import configured, generated

KEY = "OJ34O6J1z4ZZB+t16c+vYrzIrKddxyU3Z2eLhwYzqE8="


def document(kind: str, text: str) -> str:
    return f"apiVersion: v1alpha1\nkind: {kind}\n{text}\n"


CONTROL_PLANE = [
    ("cluster: {controlPlane: {endpoint: 'https://a:0'}}", "cluster.controlPlane.endpoint is wrong"),
    ("cluster: {controlPlane: {$patch: delete}}", "cluster.controlPlane.endpoint is missing"),
    ("cluster: {network: {dnsDomain: 'a b'}}", '"a b" is no DNS name'),
    ("cluster: {network: {cni: {name: calico}}}", '"calico" is none of flannel, custom, none'),
    ("cluster: {network: {cni: {name: none, urls: ['https://a']}}}", "urls must be empty for none"),
    ("cluster: {network: {cni: {name: custom, urls: ['https://']}}}", "cni.urls: it has no host"),
    ("cluster: {network: {cni: {name: none, flannel: {extraArgs: [a]}}}}", "extraArgs must be empty"),
    ("cluster: {etcd: {ca: {$patch: delete}}}", "cluster.etcd.ca is missing"),
    ("cluster: {etcd: {subnet: 10.0.0.0/8, advertisedSubnets: [10.0.0.0/8]}}", "use advertisedSubnets alone"),
    ("cluster: {etcd: {listenSubnets: [10.0.0.0/33]}}", '"10.0.0.0/33" is no subnet'),
    ("cluster: {inlineManifests: [{contents: a}]}", "a manifest has no name"),
    ("cluster: {id: {$patch: delete}}", "cluster.discovery needs cluster.id"),
    ("cluster: {discovery: {registries: {service: {endpoint: 'https://a/b'}}}}", "must have no path"),
    ("cluster: {externalCloudProvider: {manifests: ['https://a']}}", "is off, but has manifests"),
    ("cluster: {apiServer: {resources: {limits: {disk: 1}}}}", '"disk" is neither memory nor cpu'),
    ("cluster: {apiServer: {authorizationConfig: [{type: A, name: a}]}}", 'type "A" is none of'),
    ("machine: {ca: {$patch: delete}}", "machine.ca is needed on a control plane"),
    ("machine: {ca: {crt: YWJj}}", "machine.ca.key is needed on a control plane"),
    ("machine: {install: {disk: {$patch: delete}}}", "needs disk or diskSelector"),
    ("machine: {install: {$patch: delete}}", "machine.install is needed on metal"),
    ("machine: {install: {diskSelector: {name: a}}}", "diskSelector.name is not supported"),
    ("machine: {install: {diskSelector: {type: tape}}}", '"tape" is none of'),
    ("machine: {install: {extraKernelArgs: [a]}}", "does nothing while grubUseUKICmdline is true"),
    ("machine: {install: {extensions: [{image: a}, {image: a}]}}", '"a" stands twice'),
    ("machine: {type: boss}", 'machine.type "boss" is not known'),
    ("machine: {disks: [{partitions: [{mountpoint: /a}, {mountpoint: /b}]}]}", "only the last partition"),
    ("machine: {kubelet: {nodeIP: {validSubnets: ['!x']}}}", '"!x" is no subnet'),
    ("machine: {kubelet: {extraConfig: {port: 1}}}", "port is Talos's own"),
    ("machine: {systemDiskEncryption: {state: {provider: luks2, keys: []}}}", "it has no keys"),
    ("machine: {systemDiskEncryption: {state: {keys: [{slot: 0}, {slot: 0}]}}}", "slot 0 is used twice"),
    ("machine: {logging: {destinations: [{endpoint: 'http://a', format: text}]}}", "must be a tcp or udp URL"),
    ("machine: {nodeLabels: {a/b/c: d}}", '"a/b/c" has more than one slash'),
    ("machine: {nodeLabels: {a: '-'}}", '"-" is not a value'),
    ("machine: {nodeAnnotations: {talos.dev/owned-labels: a}}", "is Talos's own"),
    ("machine: {nodeTaints: {a: 'b:Never'}}", 'the effect "Never" of a'),
    ("machine: {features: {hostDNS: {enabled: false}}}", "needs hostDNS.enabled"),
    ("machine: {features: {kubernetesTalosAPIAccess: {enabled: true, allowedRoles: [root]}}}", '"root" is no role'),
    ("machine: {features: {nodeAddressSortAlgorithm: v3}}", "neither v1 nor v2"),
    ("machine: {registries: {mirrors: {a: }}}", "machine.registries.mirrors.a is empty"),
    ("persist: false", "persist must be true"),
    ("machine: {network: {interfaces: [{addresses: [10.0.0.1]}]}}", "either interface or deviceSelector"),
    ("machine: {network: {interfaces: [{interface: a, addresses: [10.0.0.300]}]}}", '"10.0.0.300" is no IP address'),
    ("machine: {network: {interfaces: [{interface: a, vip: {ip: b}}]}}", 'vip.ip "b" is no IP address'),
    ("machine: {network: {interfaces: [{interface: a, routes: [{metric: 1}]}]}}", "neither network nor gateway"),
    ("machine: {network: {interfaces: [{interface: a, bond: {mode: 802.3ad, primary: b}}]}}", "in mode 802.3ad"),
    ("machine: {network: {interfaces: [{interface: a, bond: {mode: fast}}]}}", 'mode "fast" is none of'),
    ("machine: {network: {interfaces: [{interface: a, bond: {updelay: 5}}]}}", "multiple of miimon"),
    ("machine: {network: {interfaces: [{interface: a, bond: {}, bridge: {}}]}}", "a bond or a bridge, not both"),
    ("machine: {network: {interfaces: [{interface: a, wireguard: {privateKey: b}}]}}", "not base64 of 32 bytes"),
    ("machine: {network: {kubespan: {enabled: true, mtu: 1000}}}", "mtu must be at least 1280"),
]
WORKER = [
    ("machine: {network: {interfaces: [{interface: a, vip: {ip: 10.0.0.1}}]}}", "for control planes only"),
    ("machine: {ca: {crt: YWJj, key: YWJj}}", "machine.ca.key must not be on a worker"),
    ("cluster: {ca: {crt: YWJj, key: YWJj}}", "cluster.ca.key must not be on a worker"),
    ("cluster: {etcd: {ca: {crt: YWJj}}}", "cluster.etcd is for control planes only"),
    ("machine: {features: {kubernetesTalosAPIAccess: {enabled: true}}}", "is for control planes only"),
]
DOCUMENTS = [
    ("HostnameConfig", "hostname: ''", "it needs auto or hostname"),
    ("HostnameConfig", "hostname: " + "a" * 64, "must have 1 to 63 characters"),
    ("Layer2VIPConfig", "name: eth0", "name must be the shared IP address"),
    ("StaticHostConfig", "name: 10.0.0.1", "hostnames is empty"),
    ("TimeSyncConfig", "ntp: {}\nptp: {}", "it has ntp and ptp"),
    ("DHCPv4Config", "name: a\nclientIdentifier: duid", "belong together"),
    ("KubeSpanConfig", "mtu: 1000", "mtu must be at least 1280"),
    ("NetworkRuleConfig", "name: a", "portSelector.ports is empty"),
    ("NetworkRuleConfig", "name: a\nportSelector: {ports: [5-9, 7], protocol: tcp}", "7-7 overlaps 5-9"),
    ("BlackholeRouteConfig", "name: a", "name must be a subnet"),
    ("RoutingRuleConfig", "name: '32766'\ntable: '5'", "none of 0, 32500, 32766, 32767"),
    ("TCPProbeConfig", "name: a", "endpoint is missing"),
    ("LinkConfig", "name: a\naddresses: [{address: 0.0.0.0/0}]", "must be an IP address"),
    ("BondConfig", "name: a", "links is empty"),
    ("VLANConfig", "name: a\nvlanID: 4095\nparent: b", "vlanID must be from 1 to 4094"),
    ("VRFConfig", "name: a\ntable: main", "table main is reserved"),
    ("WireguardConfig", f"name: a\nprivateKey: {KEY}\npeers: [{{publicKey: b}}]", "publicKey is not base64"),
    ("LinkAliasConfig", "name: a", "selector.match is missing"),
    ("EthernetConfig", "features: {}", "name is missing"),
    ("VolumeConfig", "name: OTHER", "name must be one of STATE, EPHEMERAL, IMAGECACHE"),
    ("VolumeConfig", "name: STATE\nprovisioning: {minSize: 1GB}", "cannot be set for STATE"),
    ("UserVolumeConfig", "name: a_b\nvolumeType: directory", "letters, digits and hyphens only"),
    ("UserVolumeConfig", "name: a\nprovisioning: {diskSelector: {match: 'disk.size > 5'}, maxSize: 1GB}", "uint > int"),
    (
        "UserVolumeConfig",
        "name: a\nprovisioning: {diskSelector: {match: 'true'}, minSize: 2GB, maxSize: 1GB}",
        "greater",
    ),
    ("RawVolumeConfig", "name: a\nencryption: {provider: luks2}", "encryption: it has no keys"),
    ("ExistingVolumeConfig", "name: a", "volumeSelector.match is missing"),
    ("ExternalVolumeConfig", "name: a\nfilesystemType: virtiofs", "mount.virtiofs.tag is missing"),
    ("ZswapConfig", "maxPoolPercent: 101", "from 0 to 100"),
    ("RegistryMirrorConfig", "name: a\nendpoints: [{url: 'ftp://a'}]", "must be an http or https URL"),
    ("RegistryAuthConfig", "name: a\nusername: b\nauth: c", "use only one of"),
    ("RegistryTLSConfig", "name: a\nca: b", "ca is no certificate"),
    ("ExtensionServiceConfig", "name: a", "neither configFiles nor environment"),
    ("EnvironmentConfig", "variables: {1a: b}", '"1a" is no name'),
    ("EventSinkConfig", "endpoint: a", "a host with a port"),
    ("KmsgLogConfig", "name: a\nurl: 'tcp://b'", "with a port"),
    ("OOMConfig", "triggerExpression: '1'", "must give bool"),
    ("WatchdogTimerConfig", "device: /dev/watchdog0\ntimeout: 5s", "at least 10s"),
    ("SideroLinkConfig", "apiUrl: 'http://a'", "must be https or grpc"),
    ("ImageVerificationConfig", "rules: [{image: a}]", "exactly one of skip, deny, keyless, publicKey"),
]


def refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate(parse_configuration(text))
    assert message in str(caught.value)


@pytest.mark.parametrize(("patch", "message"), CONTROL_PLANE)
def test_a_control_plane_is_refused(patch: str, message: str) -> None:
    refused(generated(patch + "\n"), message)


@pytest.mark.parametrize(("patch", "message"), WORKER)
def test_a_worker_is_refused(patch: str, message: str) -> None:
    refused(generated(patch + "\n", machine_type="worker"), message)


@pytest.mark.parametrize(("kind", "text", "message"), DOCUMENTS)
def test_a_document_is_refused_by_its_name(kind: str, text: str, message: str) -> None:
    refused(document(kind, text), message)


@pytest.mark.parametrize(
    ("patch", "kind", "text", "message"),
    [
        (
            "machine: {network: {kubespan: {}}}",
            "KubeSpanConfig",
            "enabled: true",
            "machine.network.kubespan is set too",
        ),
        (
            "machine: {network: {nameservers: [1.1.1.1]}}",
            "ResolverConfig",
            "",
            "machine.network.nameservers is set too",
        ),
        ("machine: {time: {servers: [a]}}", "TimeSyncConfig", "enabled: true", "machine.time.servers is set too"),
    ],
)
def test_the_old_place_and_the_new_document_exclude_each_other(patch: str, kind: str, text: str, message: str) -> None:
    refused(generated(patch + "\n", document(kind, text)), message)


EVERY = [
    *(generated(patch + "\n") for patch, _ in CONTROL_PLANE),
    *(generated(patch + "\n", machine_type="worker") for patch, _ in WORKER),
    *(document(kind, text) for kind, text, _ in DOCUMENTS),
]


@pytest.mark.parametrize("text", EVERY, ids=range(len(EVERY)))
def test_every_problem_has_a_place_that_talos_knows(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate(parse_configuration(text))
    for problem in caught.value.problems:
        kind: Type | None = DOCUMENTS_OF_TALOS[problem.document.split("/")[0]] if problem.document else V1ALPHA1
        assert problem.path or problem.document, problem
        for part in problem.path:
            if isinstance(kind, ListOf | MapOf):
                kind = kind.item
            elif isinstance(kind, Struct):
                kind = next((field.type for field in kind.fields if field.name == part), None)
            else:
                assert isinstance(kind, Anything)
            assert kind is not None, f"{problem}: {problem.path}"


@pytest.mark.parametrize(
    ("patch", "path"),
    [
        ("persist: false", ("persist",)),
        ("machine: {$patch: delete}", ("machine",)),
        (
            "machine: {network: {interfaces: [{interface: a}, {interface: b, vlans: [{}, {addresses: [x]}]}]}}",
            ("machine", "network", "interfaces", 1, "vlans", 1),
        ),
        (
            "machine: {network: {interfaces: [{interface: a, routes: [{metric: 1}]}]}}",
            ("machine", "network", "interfaces", 0, "routes", 0),
        ),
        ("machine: {registries: {mirrors: {a.b: }}}", ("machine", "registries", "mirrors", "a.b")),
    ],
)
def test_a_problem_is_placed_as_near_as_can_be(patch: str, path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        validate(parse_configuration(generated(patch + "\n")))
    (problem,) = caught.value.problems
    assert problem.path[: len(path)] == path


def test_every_problem_is_told_at_once_and_no_secret() -> None:
    patch = "machine: {ca: {$patch: delete}, install: {$patch: delete}, token: hush}\npersist: false\n"
    with pytest.raises(ConfigError) as caught:
        validate(configured(patch))
    assert len(caught.value.problems) == 4
    assert "hush" not in str(caught.value)


def test_warnings_are_returned() -> None:
    patch = "machine: {type: init, install: {extensions: [{image: a}]}}\ncluster: {network: {cni: {name: custom}}}\n"
    assert [str(warning).split(" ")[0] for warning in validate(configured(patch))] == [
        "machine.install.extensions",
        "cluster.network.cni.urls",
    ]


def test_nothing_is_installed_in_a_container() -> None:
    assert validate(configured("machine: {install: {$patch: delete}}\n"), "container") == ()


def test_a_running_machine_refuses_a_kubernetes_release_that_it_does_not_run() -> None:
    configuration = configured("machine: {kubelet: {image: 'ghcr.io/siderolabs/kubelet:v1.30.0'}}\n")
    assert validate(configuration) == ()
    with pytest.raises(ConfigError, match=r"machine.kubelet.image: Talos 1.13 runs Kubernetes 1.31 to 1.36, not 1.30"):
        validate(configuration, at_runtime=True)
    old = parse_configuration(generated(talos_version="v1.11"), "v1.11.6")
    assert validate(old, at_runtime=True) == ()


def test_off_alone_is_enough_for_a_host_name_in_some_releases() -> None:
    text = document("HostnameConfig", "auto: off")
    assert validate(parse_configuration(text, "v1.13.9")) == ()
    with pytest.raises(ConfigError, match="needs auto or hostname"):
        validate(parse_configuration(text, "v1.13.0"))


def test_what_stands_in_a_configuration_cannot_be_taken_for_a_place_or_a_value() -> None:
    interface = """machine: {network: {interfaces: [{interface: 'line 9: "b"', addresses: [x]}]}}\n"""
    with pytest.raises(ConfigError) as caught:
        validate(configured(interface))
    (problem,) = caught.value.problems
    assert (problem.line, problem.value) == (None, "x")
    assert problem.path == ("machine", "network", "interfaces", 0)
    assert str(problem) == 'machine.network line 9: "b": "x" is no IP address'


def test_annotations_may_be_bytes_that_are_no_text() -> None:
    """Talos counts their bytes and takes them."""
    validate(configured('machine: {nodeAnnotations: {a: !!binary "//8="}, install: {disk: /dev/sda}}'), "metal")
