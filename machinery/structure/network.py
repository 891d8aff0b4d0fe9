"""Documents about addresses, names, time and the firewall. Notation: see notation.py."""

TABLE = """
CommonProbeConfig
    interval         duration
    failureThreshold int

document HostnameConfig since 1.12
    auto     autohostname?
    hostname string

document ResolverConfig since 1.12
    nameservers   [NameserverConfig]
    searchDomains SearchDomainsConfig

NameserverConfig
    address address!

SearchDomainsConfig
    domains        [string]
    disableDefault bool?

document StaticHostConfig since 1.12
    name      string!
    hostnames [string]!

document TimeSyncConfig since 1.12
    enabled     bool?
    bootTimeout duration
    ntp         NTPConfig?
    ptp         PTPConfig?

NTPConfig
    servers [string]

PTPConfig
    devices [string]

document DHCPv4Config since 1.12
    name             string!
    routeMetric      uint32
    ignoreHostname   bool?
    clientIdentifier clientid?
    duidRaw          mac

document DHCPv6Config since 1.12
    name             string!
    routeMetric      uint32
    ignoreHostname   bool?
    clientIdentifier clientid?
    duidRaw          mac

document Layer2VIPConfig since 1.12
    name string!
    link string!

document HCloudVIPConfig since 1.12
    name     string!
    link     string!
    apiToken string!

document KubeSpanConfig since 1.13
    enabled                     bool?
    advertiseKubernetesNetworks bool?
    allowDownPeerBypass         bool?
    harvestExtraEndpoints       bool?
    mtu                         uint32?
    filters                     KubeSpanFiltersConfig?

KubeSpanFiltersConfig
    endpoints                 [string]
    excludeAdvertisedNetworks [prefix]

document KubeSpanEndpointsConfig
    extraAnnouncedEndpoints [addressport]!

document NetworkDefaultActionConfig
    ingress action!

document NetworkRuleConfig
    name         string!
    portSelector RulePortSelector!
    ingress      [IngressRule]=!

RulePortSelector
    ports    [ports]=!
    protocol protocol!

IngressRule
    subnet prefix!
    except prefix

document BlackholeRouteConfig since 1.13
    name   string!
    metric uint32

document RoutingRuleConfig since 1.13
    name    string!
    src     prefix
    dst     prefix
    table   routingtable!
    action  ruleaction
    iifName string
    oifName string
    fwMark  uint32
    fwMask  uint32

document TCPProbeConfig since 1.13
    name     string!
    + CommonProbeConfig
    endpoint string!
    timeout  duration
"""
