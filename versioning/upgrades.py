"""From which Talos release to which other a machine may go in one step."""

from versioning import Contract, read_version


def refusal(running: str, wanted: str) -> str:
    """Return why a machine that runs one release cannot be given the other, empty where it can.

    Talos's installers let pass a little more; its documentation tests neighbouring minor versions only, and one down is
    the furthest that an installer lets pass. What is no version, such as a build of somebody's own, is not judged.
    """
    old, new = read_version(running), read_version(wanted)
    if old is None or new is None:
        return ""
    if old.major == new.major and abs(new.minor - old.minor) <= 1:
        return ""
    if new < old:
        return f"it runs {running}, and goes back one minor version at most"
    following = Contract(old.major, old.minor + 1)
    return f"it runs {running}, and goes up one minor version at a time: to the newest {following} first"
