"""The ways a session ends."""

REBOOT = "reboot"
SHUTDOWN = "shutdown"
