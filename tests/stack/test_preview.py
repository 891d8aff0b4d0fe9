"""What is wrong is said at preview, all at once, without a traceback, and nothing is made."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack.rehearsal import Rehearsal

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    rehearsal = Rehearsal(tmp_path_factory.mktemp("preview"))
    rehearsal.start()
    try:
        yield rehearsal
    finally:
        rehearsal.down()


def refused(lab: Rehearsal) -> str:
    output = lab.pulumi("up", "--yes", "--skip-preview", "--non-interactive", fails=True)
    assert "Traceback" not in output
    diagnostics = lab.pulumi("preview", "--non-interactive", fails=True).partition("Diagnostics:")[2]
    assert diagnostics.count("nothing was changed") == 1
    assert [resource for resource in lab.state() if resource["type"] != "pulumi:pulumi:Stack"] == []
    return output


def test_faults_of_the_topology_are_reported_together(lab: Rehearsal) -> None:
    good = lab.topology
    lab.topology = good | {"colour": "blue", "versions": good["versions"] | {"kubernetes": "v1.99.0"}}
    lab.save()
    output = refused(lab)
    lab.topology = good
    lab.save()
    assert "2 faults; nothing was changed" in output
    assert "colour" in output and "v1.99.0" in output


def test_a_missing_cluster_is_a_fault(lab: Rehearsal, tmp_path: Path) -> None:
    file = lab.project / "Pulumi.lab.yaml"
    text = file.read_text()
    file.write_text("config: {}\n")
    output = refused(lab)
    file.write_text(text)
    assert "1 fault; nothing was changed" in output


def test_faults_of_templates_name_file_line_variable_and_node(lab: Rehearsal) -> None:
    lab.patch("worker/50-broken.yaml.j2", "machine:\n  sysctls:\n    a: '{{ node.ip6 }}'\n")
    output = refused(lab)
    (lab.project / "patches/worker/50-broken.yaml.j2").unlink()
    assert "patches/worker/50-broken.yaml.j2:3 (lab-worker-01, lab-worker-02)" in output and "ip6" in output


def test_a_secret_that_a_patch_asks_for_and_nobody_set_is_a_fault(lab: Rehearsal) -> None:
    lab.patch("all/50-secret.yaml.j2", 'machine:\n  sysctls:\n    a: \'{{ secret("not" ~ "Set") }}\'\n')
    output = refused(lab)
    (lab.project / "patches/all/50-secret.yaml.j2").unlink()
    assert "notSet" in output and "pulumi config set --secret notSet --stack lab`" in output
