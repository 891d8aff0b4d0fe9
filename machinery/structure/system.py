"""The other documents: registries, logs, extensions, trust. Notation: see notation.py."""

TABLE = """
document RegistryMirrorConfig since 1.12
    name         string!
    endpoints    [RegistryEndpoint]
    skipFallback bool?

RegistryEndpoint
    url          url!
    overridePath bool?

document RegistryAuthConfig since 1.12
    name          string!
    username      string
    password      string
    auth          string
    identityToken string

document RegistryTLSConfig since 1.12
    name               string!
    clientIdentity     TextCertificateAndKey?
    ca                 string
    insecureSkipVerify bool?

TextCertificateAndKey
    cert string
    key  string

document ExtensionServiceConfig
    name        string!
    configFiles [ConfigFile]@mountPath
    environment [string]

ConfigFile
    content   string!
    mountPath string!

document EnvironmentConfig since 1.13
    variables {string}!

document EventSinkConfig
    endpoint string!

document KmsgLogConfig
    name string!
    url  url!

document OOMConfig since 1.12
    triggerExpression         cel
    cgroupRankingExpression   cel
    strictCgroupClassOrdering bool? since 1.12.9 until 1.12
    strictCgroupClassOrdering bool? since 1.13.4
    sampleInterval            duration

document WatchdogTimerConfig
    device  string!
    timeout duration

document PCIDriverRebindConfig
    name         string!
    targetDriver string!

document SideroLinkConfig
    apiUrl      url!
    uniqueToken string

document TrustedRootsConfig
    name         string!
    certificates string!

document ImageVerificationConfig since 1.13
    rules [ImageRule]@image=

ImageRule
    image     string
    skip      bool?
    deny      bool?
    keyless   ImageKeyless?
    publicKey ImagePublicKey?

ImageKeyless
    issuer       string
    subject      string
    subjectRegex string

ImagePublicKey
    certificate string
"""
