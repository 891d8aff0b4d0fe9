"""The machine part of the v1alpha1 document: registries, disk encryption, features. Notation: see notation.py."""

TABLE = """
RegistriesConfig
    mirrors {RegistryMirror?}
    config  {Registry?}

RegistryMirror
    endpoints    [string]!
    overridePath bool?
    skipFallback bool?

Registry
    tls  RegistryTLS?
    auth RegistryAuth?

RegistryAuth
    username      string
    password      string
    auth          string
    identityToken string

RegistryTLS
    clientIdentity     CertificateAndKey?=
    ca                 base64
    insecureSkipVerify bool?

SystemDiskEncryptionConfig
    state     EncryptionConfig?
    ephemeral EncryptionConfig?

EncryptionConfig
    provider  string!
    keys      [EncryptionKey?]!
    cipher    string
    keySize   uint
    blockSize uint64
    options   [string]

EncryptionKey
    static EncryptionKeyStatic?
    nodeID EncryptionKeyNodeID?
    kms    EncryptionKeyKMS?
    slot   int!
    tpm    EncryptionKeyTPM?

EncryptionKeyStatic
    passphrase string

EncryptionKeyNodeID

EncryptionKeyKMS
    endpoint string!

EncryptionKeyTPM
    checkSecurebootStatusOnEnroll bool?

FeaturesConfig
    rbac                     bool?
    stableHostname           bool?
    kubernetesTalosAPIAccess KubernetesTalosAPIAccessConfig?
    apidCheckExtKeyUsage     bool?
    diskQuotaSupport         bool?
    kubePrism                KubePrism?
    hostDNS                  HostDNSConfig?
    imageCache               ImageCacheConfig?
    nodeAddressSortAlgorithm string

KubernetesTalosAPIAccessConfig
    enabled                     bool?
    allowedRoles                [string]
    allowedKubernetesNamespaces [string]

KubePrism
    enabled bool?
    port    int

HostDNSConfig
    enabled              bool?
    forwardKubeDNSToHost bool?
    resolveMemberNames   bool?

ImageCacheConfig
    localEnabled bool?
"""
