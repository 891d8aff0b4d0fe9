"""The ways a session ends; a wipe goes before one of the other two."""

REBOOT = "reboot"
SHUTDOWN = "shutdown"
WIPE = "wipe-"
