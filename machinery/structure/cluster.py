"""The `cluster` part of the v1alpha1 document. Notation: see notation.py."""

TABLE = """
ClusterConfig
    id                             string
    secret                         string
    controlPlane                   ControlPlaneConfig?!
    clusterName                    string
    network                        ClusterNetworkConfig?
    token                          string
    aescbcEncryptionSecret         string
    secretboxEncryptionSecret      string
    ca                             CertificateAndKey?=
    acceptedCAs                    [Certificate?]
    aggregatorCA                   CertificateAndKey?=
    serviceAccount                 PrivateKey?=
    apiServer                      APIServerConfig?
    controllerManager              ControllerManagerConfig?
    proxy                          ProxyConfig?
    scheduler                      SchedulerConfig?
    discovery                      ClusterDiscoveryConfig?
    etcd                           EtcdConfig?
    coreDNS                        CoreDNS?
    externalCloudProvider          ExternalCloudProviderConfig?
    extraManifests                 [string]
    extraManifestHeaders           {string}
    inlineManifests                [InlineManifest]
    adminKubeconfig                AdminKubeconfigConfig?
    allowSchedulingOnMasters       bool?
    allowSchedulingOnControlPlanes bool?

ControlPlaneConfig
    endpoint           url?!
    localAPIServerPort int

ClusterNetworkConfig
    cni            CNIConfig?
    dnsDomain      string!
    podSubnets     [string]=!
    serviceSubnets [string]=!

CNIConfig
    name    string
    urls    [string]
    flannel FlannelCNIConfig?

FlannelCNIConfig
    extraArgs                  [string]
    kubeNetworkPoliciesEnabled bool? since 1.13

APIServerConfig
    image                    string
    extraArgs                {arg}=
    extraVolumes             [VolumeMountConfig]
    env                      {string}
    certSANs                 [string]
    disablePodSecurityPolicy bool?
    admissionControl         [AdmissionPlugin?]@name
    auditPolicy              any=
    resources                ResourcesConfig?
    authorizationConfig      [Authorizer?]

AdmissionPlugin
    name          string!
    configuration any!

Authorizer
    type    string!
    name    string!
    webhook any

ControllerManagerConfig
    image        string
    extraArgs    {arg}=
    extraVolumes [VolumeMountConfig]
    env          {string}
    resources    ResourcesConfig?

SchedulerConfig
    image        string
    extraArgs    {arg}=
    extraVolumes [VolumeMountConfig]
    env          {string}
    resources    ResourcesConfig?
    config       any

ProxyConfig
    disabled  bool?
    image     string
    mode      string
    extraArgs {arg}=

VolumeMountConfig
    hostPath  string!
    mountPath string!
    readonly  bool

ResourcesConfig
    requests any
    limits   any

ClusterDiscoveryConfig
    enabled    bool?
    registries DiscoveryRegistriesConfig!

DiscoveryRegistriesConfig
    kubernetes RegistryKubernetesConfig!
    service    RegistryServiceConfig!

RegistryKubernetesConfig
    disabled bool?

RegistryServiceConfig
    disabled bool?
    endpoint string

EtcdConfig
    image             string
    ca                CertificateAndKey?!=
    extraArgs         {arg}=
    subnet            string
    advertisedSubnets [string]
    listenSubnets     [string]

CoreDNS
    disabled bool?
    image    string

ExternalCloudProviderConfig
    enabled   bool?
    manifests [string]

InlineManifest
    name     string!
    contents string!

AdminKubeconfigConfig
    certLifetime duration
"""
