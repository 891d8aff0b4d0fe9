"""Which network a lab gets: a sealed one, or loopback addresses of this machine that nobody else has taken."""

from collections.abc import Callable

from lab import loopback, namespace
from lab.errors import LabError
from lab.settings import chosen
from lab.stackfile import StackFile


def choose(stack: StackFile, say: Callable[[str], None]) -> bool:
    """Return whether to seal; without namespaces only a stack on loopback addresses can run."""
    reason = "LAB_NETWORK=loopback is set" if chosen("LAB_NETWORK") else namespace.obstacle()
    if reason is None:
        return True
    foreign = namespace.needs_namespace(stack.addresses)
    if foreign:
        shown = ", ".join(str(address) for address in foreign[:3]) + (" ..." if len(foreign) > 3 else "")
        raise LabError(
            f"{stack.path.name} uses addresses outside 127.0.0.0/8 ({shown}), which need a sealed network namespace, "
            f"and {reason}"
        )
    silent = [str(address) for address in stack.addresses if not loopback.answers(str(address))]
    if silent:
        aliases = "; ".join(f"sudo ifconfig lo0 alias {address}" for address in silent)
        raise LabError(f"this machine does not answer at {', '.join(silent)}, and {reason}; on macOS: {aliases}")
    say(f"==> no sealed network ({reason}); this stack lives on loopback addresses, so it runs anyway")
    return False


def refuse_taken(stack: StackFile) -> None:
    """Raise LabError where something listens already at what the lab needs; a sealed network is empty."""
    taken = [f"{address}:{port}" for address, port in stack.listeners if not loopback.answers(address, port)]
    if taken:
        shown = ", ".join(taken[:3]) + (" ..." if len(taken) > 3 else "")
        raise LabError(
            f"something already listens at {shown}, which the lab of {stack.name} needs; is it the lab of another "
            "checkout? Then `make lab-down` there, or else end what it is"
        )
