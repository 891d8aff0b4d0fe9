"""Documents about network links. Notation: see notation.py."""

TABLE = """
CommonLinkConfig
    up        bool?
    mtu       uint32
    addresses [AddressConfig]
    routes    [RouteConfig]
    multicast bool?

AddressConfig
    address       prefix!
    routePriority uint32?

RouteConfig
    destination prefix
    gateway     address
    source      address
    metric      uint32
    mtu         uint32
    table       routingtable

document LinkConfig since 1.12
    name string!
    + CommonLinkConfig

document BondConfig since 1.12
    name            string!
    hardwareAddr    mac
    links           [string]
    bondMode        bondmode?
    miimon          uint32?
    updelay         uint32?
    downdelay       uint32?
    useCarrier      bool?
    xmitHashPolicy  xmithash?
    arpInterval     uint32?
    arpIpTargets    [address]
    nsIp6Targets    [address]
    arpValidate     arpvalidate?
    arpAllTargets   arptargets?
    lacpRate        lacprate?
    failOverMac     failovermac?
    adSelect        adselect?
    adActorSysPrio  uint16?
    adUserPortKey   uint16?
    adLACPActive    onoff?
    primaryReselect reselect?
    resendIGMP      uint32?
    minLinks        uint32?
    lpInterval      uint32?
    packetsPerSlave uint32?
    numPeerNotif    uint8?
    tlbLogicalLb    uint8?
    allSlavesActive uint8?
    peerNotifDelay  uint32?
    missedMax       uint8?
    + CommonLinkConfig

document BridgeConfig since 1.12
    name         string!
    hardwareAddr mac
    links        [string]
    stp          BridgeSTPConfig
    vlan         BridgeVLANConfig
    + CommonLinkConfig

BridgeSTPConfig
    enabled bool?

BridgeVLANConfig
    filtering bool?

document DummyLinkConfig since 1.12
    name         string!
    hardwareAddr mac
    + CommonLinkConfig

document VLANConfig since 1.12
    name     string!
    vlanID   uint16
    vlanMode vlanprotocol?
    parent   string
    + CommonLinkConfig

document VRFConfig since 1.13
    name         string!
    hardwareAddr mac
    links        [string]
    table        routingtable!
    + CommonLinkConfig

document WireguardConfig since 1.12
    name         string!
    privateKey   string
    listenPort   int
    firewallMark int
    peers        [WireguardPeer]
    + CommonLinkConfig

WireguardPeer
    publicKey                   string
    presharedKey                string
    endpoint                    addressport
    persistentKeepaliveInterval duration
    allowedIPs                  [prefix]

document LinkAliasConfig since 1.12
    name     string!
    selector LinkSelector

LinkSelector
    match cel

document EthernetConfig
    name      string!
    features  {bool}
    rings     EthernetRingsConfig?
    channels  EthernetChannelsConfig?
    wakeOnLan [wol] since 1.12

EthernetRingsConfig
    rx              uint32?
    tx              uint32?
    rx-mini         uint32?
    rx-jumbo        uint32?
    rx-buf-len      uint32?
    cqe-size        uint32?
    tx-push         bool?
    rx-push         bool?
    tx-push-buf-len uint32?
    tcp-data-split  bool?

EthernetChannelsConfig
    rx       uint32?
    tx       uint32?
    other    uint32?
    combined uint32?
"""
