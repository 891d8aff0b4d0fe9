"""How long things take on a simulated machine, in simulated seconds."""

BOOT = 20.0  # from power to the machine API
FIRMWARE = 10.0  # from a reboot to the boot: a client that tries every second must see that it is gone
INSTALL = 30.0  # pulling the installer and writing the disk
UPGRADE = 30.0  # the installer at work beside a version that runs
PULL = 6.0  # pulling an installer image
FATAL = 10.0  # from an error that a machine cannot go on with to its reboot
STOP = 4.0  # stopping pods and services before a reboot
CRI = 2.0  # until the container runtime is up
KUBELET = 3.0
API_SERVER = 8.0  # from a healthy etcd to an API server that answers
RETRY = 3.0  # between attempts of anything that is tried again
