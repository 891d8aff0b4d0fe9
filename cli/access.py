"""`talos-stacks access`: a talosconfig of an operator's own, with one role and a short life."""

import argparse
import getpass
import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cli import audit, state
from cli.errors import CliError
from cli.options import EXIT_CODES, Parsers, command, node_option, one, output_option, stack_option
from cli.terminal import say, say_json
from machinery import talosconfig
from machinery.identity import ROLES, Identity, identity
from topology import Topology, TopologyError, load

SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=7)
STDOUT = "-"
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_ABOUT = """Makes a talosconfig for an operator. Its certificate has one Talos role and expires by itself: nothing can
revoke it earlier, short of replacing the cluster's CA. It is signed with the CA in the stack's state, which the engine
decrypts into memory; the talosconfig is not stored unless --out says where. Each one is logged as a line in
audit.jsonl, with the certificate's serial number and fingerprint and no secret. JSON is that line, with the
talosconfig as text, or with the file it is in."""
_EPILOG = f"""examples:
  talos-stacks access --stack homelab --out reader.yaml
  talosctl --talosconfig reader.yaml version
  talos-stacks access --stack homelab --role os:operator --lifetime 30m --out operator.yaml
  talos-stacks access --stack homelab --node talos-worker-01 --user jane | age -r age1... > jane.age

{EXIT_CODES}"""


def add(parsers: Parsers) -> None:
    """Put the command into the table."""
    parser = command(
        parsers,
        "access",
        run,
        summary="make a short-lived talosconfig with one role",
        about=_ABOUT,
        epilog=_EPILOG,
    )
    stack_option(parser, "PULUMI_STACK, else lab")
    node_option(parser)
    parser.add_argument("--role", choices=ROLES, default="os:reader", help="default: os:reader")
    parser.add_argument(
        "--lifetime", type=lifetime, default="8h", metavar="TIME", help="such as 30m, 8h or 2d, at most 7d; default: 8h"
    )
    parser.add_argument("--user", metavar="NAME", help="who gets it, for the audit (default: your account)")
    parser.add_argument("--out", metavar="FILE", default=STDOUT, help="a new file, readable by you alone; default: -")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    output_option(parser)


def run(options: argparse.Namespace) -> int:
    """Sign, note, and hand out, in this order."""
    stack = one(options)
    try:
        topology = load(stack.cluster)
    except TopologyError as error:
        raise CliError(stack.told(error.findings)) from None
    nodes = _addresses(topology, options.node)
    account = _account()
    if not (options.user or account):
        raise CliError("your account has no name here; say who gets it with --user")
    if options.out != STDOUT:
        _check_target(Path(options.out), force=options.force)
    ca = state.read(stack).bundle.os
    try:
        issued = identity(ca, options.role, options.lifetime)
    except ValueError as error:
        raise CliError(f"{stack.name}: {error}") from None
    context = f"{options.role.removeprefix('os:').replace(':', '-')}@{topology.name}"
    endpoints = [str(address) for address in topology.talosconfig_endpoints]
    entry = _entry(options, stack.name, topology, issued, account)
    noted = audit.note(entry)
    text = talosconfig(context, ca.crt, issued.pair, endpoints, nodes)
    if options.out != STDOUT:
        _write(text, Path(options.out), force=options.force)
    if options.output == "json":
        say_json({**entry, "audit": str(noted), "talosconfig": text if options.out == STDOUT else options.out})
    elif options.out == STDOUT:
        say(text.removesuffix("\n"))
    sys.stderr.write(f"{options.role} of {topology.name} until {issued.until:%Y-%m-%d %H:%M} UTC, noted in {noted}\n")
    return 0


def lifetime(text: str) -> timedelta:
    """Return the time in `30m`, `8h` or `2d`; raises ArgumentTypeError outside of a minute to seven days."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([mhd])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a lifetime: write it as 30m, 8h or 2d")
    span = timedelta(**{_UNITS[found[2]]: int(found[1])})
    if not SHORTEST <= span <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text} is longer than 7d: issue another one when this one has expired")
    return span


def _addresses(topology: Topology, names: Sequence[str]) -> list[str]:
    """Return the addresses of the nodes of these names, of all without any."""
    known = {node.name: str(node.address) for node in topology.nodes}
    strangers = [name for name in names if name not in known]
    if strangers:
        raise CliError(f"there is no node {strangers[0]} in {topology.name}; there are: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)] or [str(each) for each in topology.talosconfig_nodes]


def _entry(
    options: argparse.Namespace, stack: str, topology: Topology, issued: Identity, account: str
) -> dict[str, object]:
    return {
        "time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "user": options.user or account,
        "issuedBy": account or "an account without a name",
        "stack": stack,
        "cluster": topology.name,
        "role": options.role,
        "nodes": options.node or "all",
        "lifetime": int(options.lifetime.total_seconds()),
        "until": f"{issued.until:%Y-%m-%dT%H:%M:%SZ}",
        "serial": issued.serial,
        "sha256": issued.fingerprint,
    }


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # a container's user that no table names
        return ""


def _check_target(path: Path, *, force: bool) -> None:
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise CliError(f"{path} cannot be written: {'it is a folder' if path.is_dir() else 'its folder is missing'}")
    if path.exists() and not force:
        raise CliError(_there(path))


def _write(text: str, out: Path, *, force: bool) -> None:
    if force:
        out.unlink(missing_ok=True)  # a new file, so that neither its rights nor a link of before counts
    try:
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CliError(_there(out)) from None
    with os.fdopen(descriptor, "w") as opened:
        opened.write(text)


def _there(path: Path) -> str:
    return f"{path} already exists; name another file, or replace it with --force"
