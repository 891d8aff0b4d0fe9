"""No secret is shown or left behind, neither by runs that come through nor by runs that fail."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack.leaks import A_KEY, Processes, files, leaks, secrets_of
from tests.stack.rehearsal import Rehearsal
from tests.waiting import eventually

pytestmark = pytest.mark.stack

REGISTRY = """machine:
  registries:
    config:
      registry.example:
        auth: {{ username: lab, password: {{{{ secret("registryPassword") | tojson }}}} }}
  env:
    CHANGE: "{change}"
"""
NOISY = ("--logtostderr", "--logflow", "-v=9")
"""As much as the engine and the plugins ever say."""
UP = ("up", "--yes", "--skip-preview", "--non-interactive")


class Watched:
    """A rehearsal of which everything is kept that anybody could have seen."""

    def __init__(self, folder: Path, processes: Processes) -> None:
        """Put a secret into a patch for every machine."""
        self.rehearsal = Rehearsal(folder)
        self.temporary = folder / "tmp"
        self._processes = processes
        self._said: list[tuple[str, bytes]] = []
        self.change(0)

    def change(self, number: int) -> None:
        """Write the patch with the secret; another number changes every machine."""
        self.rehearsal.patch("all/60-registry.yaml.j2", REGISTRY.format(change=number))

    def pulumi(self, *arguments: str, fails: bool = False) -> str:
        """Run pulumi, and keep what it says."""
        output = self.rehearsal.pulumi(*arguments, fails=fails)
        self._said.append((f"what `pulumi {' '.join(arguments)}` said", output.encode()))
        return output

    def leaks(self) -> list[str]:
        """Return every secret that could be seen: said, in a file, in the arguments or environment of a process."""
        folders = (self.rehearsal.run.folder, self.rehearsal.project, self.temporary)
        shown = [*self._said, *files(*folders), *self._processes.shown()]
        return leaks(secrets_of(self.rehearsal), shown)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "tmp").mkdir()
    with pytest.MonkeyPatch.context() as patched, Processes() as processes:
        patched.setenv("TMPDIR", str(folder / "tmp"))
        patched.setenv("LAB_SPEED", "100")
        found = Watched(folder, processes)
        found.rehearsal.start()
        try:
            yield found
        finally:
            found.rehearsal.down()


def test_runs_that_come_through_show_and_leave_no_secret(watched: Watched) -> None:
    watched.pulumi("preview", "--diff", "--non-interactive", *NOISY)
    watched.pulumi(*UP, *NOISY)
    watched.change(1)
    watched.pulumi("preview", "--non-interactive")
    shown = watched.pulumi("preview", "--diff", "--non-interactive")
    assert re.search(r"ConfigurationApply: \(update\)[^~]*machineConfigurationInput: \[secret\]", shown)
    watched.pulumi("preview", "--json", "--non-interactive")
    watched.pulumi(*UP, "--diff", *NOISY)
    watched.pulumi("refresh", "--yes", "--skip-preview", "--diff", "--non-interactive", *NOISY)
    for question in (["stack"], ["stack", "output"], ["stack", "output", "--json"], ["stack", "export"], ["config"]):
        watched.pulumi(*question)
    assert watched.leaks() == []


def test_the_secrets_are_found_where_they_are_asked_for(watched: Watched) -> None:
    secrets = secrets_of(watched.rehearsal)
    for question in (["stack", "export"], ["stack", "output", "--json"], ["config"]):
        shown = watched.rehearsal.pulumi(*question, "--show-secrets")
        assert leaks(secrets, [("here", shown.encode())])
    exported = watched.rehearsal.pulumi("stack", "export", "--show-secrets").encode()
    names = set(secrets.values()) - {A_KEY, "the passphrase of the state"}
    assert {leak.removesuffix(" in here") for leak in leaks(secrets, [("here", exported)])} >= names
    assert {name.rpartition(": ")[2] for name in names} >= {"key", "secret", "token", "secretboxEncryptionSecret"}


def test_arguments_and_environment_of_every_process_are_seen() -> None:
    marks = {b"in-the-arguments": "arguments", b"in-the-environment": "environment"}
    with Processes() as processes:
        command = [sys.executable, "-c", "input()", "in-the-arguments"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env={"MARK": "in-the-environment"}) as process:
            eventually(lambda: len(leaks(marks, list(processes.shown()))) == 2, what="both marks to be seen")
            process.communicate(b"\n")


def test_a_refused_configuration_is_not_shown(watched: Watched) -> None:
    watched.rehearsal.topology["rollout"] = {"applyMode": "no_reboot", "timeout": 8}
    watched.rehearsal.save()
    watched.change(2)
    output = watched.pulumi(*UP, "--diff", *NOISY, fails=True)
    assert "can't be applied in immediate mode" in output
    assert watched.leaks() == []
    watched.change(1)


def test_a_secret_where_talos_wants_something_else_is_not_shown(watched: Watched) -> None:
    watched.rehearsal.patch(
        "all/61-faulty.yaml.j2", 'machine:\n  time:\n    bootTimeout: {{ secret("registryPassword") }}\n'
    )
    output = watched.pulumi(*UP, "--diff", *NOISY, fails=True)
    (watched.rehearsal.project / "patches/all/61-faulty.yaml.j2").unlink()
    assert re.search(r"patches/all/61-faulty.yaml.j2:3 \(lab-.*-0\d\): fails with the real value of a secret", output)
    assert "Traceback" not in output
    assert watched.leaks() == []


def test_a_template_that_looks_into_the_secret_is_refused(watched: Watched) -> None:
    looks = "{{ {'x': 'fine'}[secret('registryPassword')] }}"
    watched.rehearsal.patch("all/61-faulty.yaml.j2", f"machine:\n  sysctls:\n    vm.swappiness: {looks}\n")
    output = watched.pulumi(*UP, "--diff", *NOISY, fails=True)
    (watched.rehearsal.project / "patches/all/61-faulty.yaml.j2").unlink()
    assert re.search(r"patches/all/61-faulty.yaml.j2:3 \(lab-.*looks into the value of a secret or changes it", output)
    assert "Traceback" not in output
    assert watched.leaks() == []


def test_a_secret_that_breaks_its_document_is_not_shown(watched: Watched) -> None:
    watched.rehearsal.patch(
        "all/61-faulty.yaml.j2", 'machine:\n  sysctls:\n    a: "{{ secret("registryPassword") }}: "b\n'
    )
    output = watched.pulumi(*UP, "--diff", *NOISY, fails=True)
    (watched.rehearsal.project / "patches/all/61-faulty.yaml.j2").unlink()
    assert "61-faulty" in output and "Traceback" not in output
    assert watched.leaks() == []


def test_a_machine_that_cannot_be_reached_does_not_make_a_run_show_secrets(watched: Watched) -> None:
    watched.rehearsal.topology["rollout"] = {"timeout": 8}
    watched.rehearsal.save()
    watched.rehearsal.power("lab-controlplane-02", "off")
    watched.rehearsal.patch("node/lab-controlplane-01/60-registry.yaml.j2", REGISTRY.format(change=3))
    output = watched.pulumi(*UP, "--diff", *NOISY, fails=True)
    watched.rehearsal.power("lab-controlplane-02", "on")
    (told,) = {line.strip() for line in output.splitlines() if line.lstrip().startswith("error: before hook")}
    assert re.search(r"waited \d s for ", told) and "127.0.10.12" in told
    assert watched.leaks() == []


def test_a_destroy_that_is_refused_shows_no_secret(watched: Watched) -> None:
    watched.pulumi("destroy", "--yes", "--skip-preview", "--non-interactive", "--diff", *NOISY, fails=True)
    assert watched.leaks() == []


def test_nothing_temporary_stays(watched: Watched) -> None:
    left = [path.name for path in watched.temporary.iterdir()]
    shutil.rmtree(watched.temporary, ignore_errors=True)
    watched.temporary.mkdir()
    assert left == []
