"""The machine API, put together: which function answers which call."""

from collections.abc import Mapping

from lab.machine.apply import apply_configuration
from lab.machine.cosi import COSI
from lab.machine.dispatch import Implementation
from lab.machine.etcd_calls import ETCD
from lab.machine.events import events
from lab.machine.health import HEALTH
from lab.machine.images import IMAGES
from lab.machine.inspect import INSPECT
from lab.machine.kubeconfig import kubeconfig
from lab.machine.lifecycle import LIFECYCLE
from lab.machine.lifecycle_service import LIFECYCLE_SERVICE
from lab.machine.reset import RESET
from lab.machine.upgrade import UPGRADE_CALLS

IMPLEMENTATIONS: Mapping[str, Implementation] = {
    **INSPECT,
    **LIFECYCLE,
    **RESET,
    **ETCD,
    **IMAGES,
    **UPGRADE_CALLS,
    **LIFECYCLE_SERVICE,
    **HEALTH,
    **COSI,
    "/machine.MachineService/ApplyConfiguration": apply_configuration,
    "/machine.MachineService/Events": events,
    "/machine.MachineService/Kubeconfig": kubeconfig,
}
