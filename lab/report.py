"""What the lab shows: the cluster that is up, where its credentials are, and what its machines do."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.run import Run

CREDENTIALS = ("kubeconfig", "talosconfig")
"""Outputs of the program that become files of the run."""
CLIENTS = ("talosctl", "kubectl")
"""Programs that use these files."""


def write_credentials(run: Run) -> list[Path]:
    """Write the cluster's credentials from the stack's outputs, each readable by its owner alone."""
    asked = subprocess.run(
        [run.bin / "pulumi", "stack", "output", "--json", "--show-secrets"],
        env=run.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    outputs = json.loads(asked.stdout) if asked.returncode == 0 else {}
    written = []
    for name in CREDENTIALS:
        if isinstance(outputs.get(name), str):
            path = run.folder / name
            path.touch(mode=0o600)
            path.chmod(0o600)
            path.write_text(outputs[name])
            written.append(path)
    return written


def summary(run: Run, seconds: float) -> str:
    """Return what is said at the end of ``lab up``."""
    from lab import control

    argument = "" if run.stack == "lab" else f" STACK={run.stack}"
    lines = ["", table(control.machines(at=run.socket)), ""]
    lines += [f"{name:12} {run.folder / name}" for name in CREDENTIALS if (run.folder / name).exists()]
    lines += [
        "",
        f"The cluster of {run.stack} is up after {seconds:.0f} s. Next:",
        f"  {'make lab-shell' + argument:32} a shell for {enumerated(clients())}",
        f"  {'make lab-status' + argument:32} its machines and what went wrong",
        f"  {'make lab-down' + argument:32} end it",
    ]
    if missing := [name for name in CLIENTS if name not in clients()]:
        lines += [
            "",
            f"Not on PATH: {enumerated(missing)}, to use the credentials above with. In that shell you can also use:",
            f"  {f'.venv/bin/talos-stacks diff --stack {run.stack}':45} compare the machines with the stack",
        ]
    return "\n".join(lines)


def clients() -> list[str]:
    """Return the programs for a shell inside that are there; pulumi always is."""
    return ["pulumi", *filter(shutil.which, CLIENTS)]


def enumerated(names: Sequence[str]) -> str:
    """Return names as a sentence has them."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def status(run: Run, found: Mapping[str, Any]) -> str:
    """Return what ``lab status`` shows of one world."""
    lines = [f"lab of {run.stack}: {len(found['machines'])} machines, {found['events']} events in {run.journal}"]
    lines.append(f"image factory {found['factory'] or 'cannot be reached by its name without a sealed network'}")
    lines += ["", table(found["machines"])]
    faults = [f"  {faults_line(name, on)}" for name, on in found["faults"].items() if on]
    lines += ["", "faults", *faults] if faults else []
    violations = [f"  {_violation(entry)}" for entry in found["violations"]]
    lines += ["", "violated invariants", *violations] if violations else ["", "no invariant was violated"]
    return "\n".join(lines)


def table(machines: Sequence[Mapping[str, Any]]) -> str:
    """Return machines as lines under a heading."""
    rows = [["NAME", "ADDRESS", "STATE", "ROLE", "TALOS", "ETCD", "VIP"], *(_row(machine) for machine in machines)]
    return columns(rows)


def machine_line(machine: Mapping[str, Any]) -> str:
    """Return one machine as a line."""
    return columns([_row(machine)])


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return rows with aligned columns."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(machine: Mapping[str, Any]) -> list[str]:
    etcd = machine["etcd"] or {}
    return [
        machine["name"],
        machine["address"],
        machine["stage"],
        machine["role"] or "-",
        machine["talos"],
        "healthy" if etcd.get("healthy") else etcd.get("state", "-"),
        " ".join(machine["vips"]) or "-",
    ]


def faults_line(machine: str, on: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the faults of a machine as a line."""
    faults = (" ".join([name, *(f"{k}={v:g}" for k, v in arguments.items())]) for name, arguments in on.items())
    return f"{machine}: {', '.join(faults) or 'no fault'}"


def _violation(entry: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in entry.items() if key not in ("n", "at", "event", "machine", "invariant")}
    detail = " ".join(f"{key}={value}" for key, value in rest.items())
    return f"{entry.get('at', '')} {entry.get('machine', '')} {entry.get('invariant', '')} {detail}".strip()
