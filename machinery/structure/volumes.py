"""Documents about disks and volumes. Notation: see notation.py."""

TABLE = """
document VolumeConfig
    name         string!
    provisioning ProvisioningSpec
    encryption   VolumeEncryption since 1.11
    mount        MountSpec since 1.13

document UserVolumeConfig
    name         string!
    volumeType   volumetype? since 1.12
    provisioning ProvisioningSpec
    filesystem   FilesystemSpec
    encryption   VolumeEncryption
    mount        UserMountSpec since 1.13

document RawVolumeConfig since 1.11
    name         string!
    provisioning ProvisioningSpec
    encryption   VolumeEncryption

document SwapVolumeConfig since 1.11
    name         string!
    provisioning ProvisioningSpec
    encryption   VolumeEncryption

document ExistingVolumeConfig since 1.11
    name      string!
    discovery VolumeDiscoverySpec
    mount     ExistingMountSpec since 1.13
    mount     MountSpec until 1.12

document ExternalVolumeConfig since 1.13
    name           string!
    filesystemType filesystem!
    mount          ExternalMountSpec

document ZswapConfig since 1.11
    maxPoolPercent  int?
    shrinkerEnabled bool?

ProvisioningSpec
    diskSelector DiskSelector
    grow         bool?
    minSize      bytes
    maxSize      size since 1.12
    maxSize      bytes until 1.11

DiskSelector
    match cel

FilesystemSpec
    type                filesystem
    projectQuotaSupport bool? since 1.11

MountSpec
    secure   bool? since 1.13
    readOnly bool? until 1.12

UserMountSpec
    disableAccessTime bool?
    secure            bool?

ExistingMountSpec
    readOnly          bool?
    disableAccessTime bool?
    secure            bool?

ExternalMountSpec
    readOnly          bool?
    disableAccessTime bool?
    secure            bool?
    virtiofs          VirtiofsMountSpec?

VirtiofsMountSpec
    tag string!

VolumeDiscoverySpec
    volumeSelector VolumeSelector

VolumeSelector
    match cel

VolumeEncryption
    provider  encryption!
    keys      [VolumeKey]!
    cipher    string
    keySize   uint
    blockSize uint64
    options   [string]

VolumeKey
    slot        int!
    static      VolumeKeyStatic?
    nodeID      VolumeKeyNodeID?
    kms         VolumeKeyKMS?
    tpm         VolumeKeyTPM?
    lockToState bool? since 1.11

VolumeKeyStatic
    passphrase string

VolumeKeyNodeID

VolumeKeyKMS
    endpoint string!

VolumeKeyTPM
    options                       VolumeKeyTPMOptions? since 1.12
    checkSecurebootStatusOnEnroll bool?

VolumeKeyTPMOptions
    pcrs [int]
"""
