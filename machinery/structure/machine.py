"""The machine part of the v1alpha1 document: kubelet, installation, files, logging. Notation: see notation.py."""

TABLE = """
V1Alpha1
    version string!
    debug   bool?
    persist bool?
    machine MachineConfig?!
    cluster ClusterConfig?!

MachineConfig
    type                     string!
    token                    string!
    ca                       CertificateAndKey?=
    acceptedCAs              [Certificate?]
    certSANs                 [string]!
    controlPlane             MachineControlPlaneConfig?
    kubelet                  KubeletConfig?
    pods                     [any]
    network                  NetworkConfig?
    disks                    [MachineDisk?]
    install                  InstallConfig?
    files                    [MachineFile?]
    env                      {string}
    time                     TimeConfig?
    sysctls                  {string}
    sysfs                    {string}
    registries               RegistriesConfig
    systemDiskEncryption     SystemDiskEncryptionConfig?
    features                 FeaturesConfig?
    udev                     UdevConfig?
    logging                  LoggingConfig?
    kernel                   KernelConfig?
    seccompProfiles          [MachineSeccompProfile?]
    baseRuntimeSpecOverrides any
    nodeLabels               {string}
    nodeAnnotations          {string}
    nodeTaints               {string}

CertificateAndKey
    crt base64!
    key base64!

Certificate
    crt base64!

PrivateKey
    key base64!

MachineSeccompProfile
    name  string!
    value any!

MachineControlPlaneConfig
    controllerManager MachineControllerManagerConfig?
    scheduler         MachineSchedulerConfig?

MachineControllerManagerConfig
    disabled bool?

MachineSchedulerConfig
    disabled bool?

KubeletConfig
    image                               string
    clusterDNS                          [string]
    extraArgs                           {arg}=
    extraMounts                         [ExtraMount]
    extraConfig                         any
    credentialProviderConfig            any
    defaultRuntimeSeccompProfileEnabled bool?
    registerWithFQDN                    bool?
    nodeIP                              KubeletNodeIPConfig?
    skipNodeRegistration                bool?
    disableManifestsDirectory           bool?

KubeletNodeIPConfig
    validSubnets [string]

ExtraMount
    destination string!
    type        string
    source      string
    options     [string]
    uidMappings [LinuxIDMapping]
    gidMappings [LinuxIDMapping]

LinuxIDMapping
    containerID uint32!
    hostID      uint32!
    size        uint32!

InstallConfig
    disk              string
    diskSelector      InstallDiskSelector?
    extraKernelArgs   [string]
    image             string
    extensions        [InstallExtensionConfig]
    bootloader        bool?
    wipe              bool?!
    legacyBIOSSupport bool?
    grubUseUKICmdline bool? since 1.12

InstallDiskSelector
    size     diskcondition?
    name     string
    model    string
    serial   string
    modalias string
    uuid     string
    wwid     string
    type     string
    busPath  string

InstallExtensionConfig
    image string!

MachineDisk
    device     string
    partitions [DiskPartition?]

DiskPartition
    size       disksize
    mountpoint string

MachineFile
    content     string!
    permissions filemode!
    path        string!
    op          string!

TimeConfig
    disabled    bool?
    servers     [string]
    bootTimeout duration

UdevConfig
    rules [string]

LoggingConfig
    destinations [LoggingDestination]!

LoggingDestination
    endpoint  url?!
    format    string!
    extraTags {string}

KernelConfig
    modules [KernelModuleConfig?]

KernelModuleConfig
    name       string!
    parameters [string]
"""
