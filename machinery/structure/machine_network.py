"""machine.network of the v1alpha1 document, deprecated from 1.12 on and still taken. Notation: see notation.py."""

TABLE = """
NetworkConfig
    hostname            string
    interfaces          [Device?]@interface|deviceSelector
    nameservers         [string]
    searchDomains       [string]
    extraHostEntries    [ExtraHost?]
    kubespan            NetworkKubeSpan?
    disableSearchDomain bool?

ExtraHost
    ip      string!
    aliases [string]!

NetworkKubeSpan
    enabled                     bool?
    advertiseKubernetesNetworks bool?
    allowDownPeerBypass         bool?
    harvestExtraEndpoints       bool?
    mtu                         uint32?
    filters                     NetworkKubeSpanFilters?

NetworkKubeSpanFilters
    endpoints                 [string]
    excludeAdvertisedNetworks [string] since 1.12.4

Device
    interface      string
    deviceSelector NetworkDeviceSelector?
    addresses      [string]
    cidr           string
    routes         [Route?]
    bond           Bond?
    bridge         Bridge?
    bridgePort     BridgePort?
    vlans          [Vlan?]@vlanId
    mtu            int
    dhcp           bool?
    ignore         bool?
    dummy          bool?
    dhcpOptions    DHCPOptions?
    wireguard      DeviceWireguardConfig?
    vip            DeviceVIPConfig?

NetworkDeviceSelector
    busPath       string
    hardwareAddr  string
    permanentAddr string
    pciID         string
    driver        string
    physical      bool?

Route
    network string!
    gateway string!
    source  string
    metric  uint32
    mtu     uint32

Bond
    interfaces      [string]!
    deviceSelectors [NetworkDeviceSelector]
    arpIPTarget     [string]
    mode            string!
    xmitHashPolicy  string
    lacpRate        string
    adActorSystem   string
    arpValidate     string
    arpAllTargets   string
    primary         string
    primaryReselect string
    failOverMac     string
    adSelect        string
    miimon          uint32
    updelay         uint32
    downdelay       uint32
    arpInterval     uint32
    resendIgmp      uint32
    minLinks        uint32
    lpInterval      uint32
    packetsPerSlave uint32
    numPeerNotif    uint8
    tlbDynamicLb    uint8
    allSlavesActive uint8
    useCarrier      bool?
    adActorSysPrio  uint16
    adUserPortKey   uint16
    peerNotifyDelay uint32

Bridge
    interfaces [string]!
    stp        STP?
    vlan       BridgeVLAN?

STP
    enabled bool?

BridgeVLAN
    vlanFiltering bool?

BridgePort
    master string

Vlan
    addresses   [string]
    cidr        string
    routes      [Route?]!
    dhcp        bool?
    vlanId      uint16!
    mtu         uint32
    vip         DeviceVIPConfig?
    dhcpOptions DHCPOptions?

DHCPOptions
    routeMetric uint32!
    ipv4        bool?
    ipv6        bool?
    duidv6      string

DeviceWireguardConfig
    privateKey   string
    listenPort   int
    firewallMark int
    peers        [DeviceWireguardPeer?]

DeviceWireguardPeer
    publicKey                   string
    endpoint                    string
    persistentKeepaliveInterval duration
    allowedIPs                  [string]

DeviceVIPConfig
    ip           string
    equinixMetal VIPEquinixMetalConfig?
    hcloud       VIPHCloudConfig?

VIPEquinixMetalConfig
    apiToken string!

VIPHCloudConfig
    apiToken string!
"""
