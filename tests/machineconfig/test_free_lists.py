"""Lists inside free-form maps: patches append to each other and to what Talos generates."""

from pathlib import Path

import pytest

from tests.machineconfig.stacks import refused_and_warned

SECURITY = "cluster: {apiServer: {admissionControl: [{name: PodSecurity, configuration: {%s}}]}}\n"
EXEMPT = SECURITY % "exemptions: {namespaces: [%s]}"
WHOLE = SECURITY % "kind: PodSecurityConfiguration, exemptions: {namespaces: [kube-system], usernames: []}"
TAINT = "machine: {kubelet: {extraConfig: {registerWithTaints: [{key: gpu, effect: %s}]}}}\n"
PROFILE = "cluster: {scheduler: {config: {profiles: [{schedulerName: %s}]}}}\n"
WEBHOOK = (
    "cluster: {apiServer: {authorizationConfig: [{type: Webhook, name: a, webhook: "
    "{matchConditions: [{expression: a}, {expression: %s}]}}]}}\n"
)
PROVIDER = "machine: {kubelet: {credentialProviderConfig: {providers: [{name: %s, args: [a, a]}]}}}\n"


@pytest.mark.parametrize(
    ("first", "second", "place"),
    [
        ("", EXEMPT % "kube-system, web", "first in what Talos generates"),
        ("", WHOLE, "first in what Talos generates"),
        (EXEMPT % "web", EXEMPT % "web", "first in patches/controlplane/70-a.yaml:1"),
        ("", EXEMPT % "web, web", "first in patches/controlplane/71-b.yaml:1"),
        (TAINT % "NoSchedule", TAINT % "NoSchedule, value: x", "first in patches/controlplane/70-a.yaml:1"),
        (PROFILE % "a", PROFILE % "a, x: 1", "first in patches/controlplane/70-a.yaml:1"),
        (PROVIDER % "ecr", PROVIDER % "ecr", "first in patches/controlplane/70-a.yaml:1"),
        ("", WEBHOOK % "a", "first in patches/controlplane/71-b.yaml:1"),
    ],
)
def test_an_entry_that_would_stand_twice_is_refused_with_both_places(
    first: str, second: str, place: str, tmp_path: Path
) -> None:
    files = {"controlplane/70-a.yaml": first, "controlplane/71-b.yaml": second}
    (line,), _ = refused_and_warned(tmp_path, {name: text for name, text in files.items() if text})
    assert line.startswith("patches/controlplane/71-b.yaml:1 (cp1): ")
    assert place in line and line.endswith("say it in one place: Talos appends lists [free-list-doubles]")


@pytest.mark.parametrize(
    "text",
    [
        EXEMPT % "web",
        SECURITY % "defaults: {enforce: restricted}",
        TAINT.replace("]}}}", ", {key: gpu, effect: NoExecute}]}}}") % "NoSchedule",
        PROFILE.replace("]}}}", ", {schedulerName: b}]}}}") % "a",
        PROVIDER % "ecr",
        WEBHOOK % "b",
        "machine: {pods: [{spec: {containers: [{name: a, args: [-v, -v]}]}}, {spec: {volumes: [a, a]}}]}\n",
    ],
)
def test_what_only_adds_is_clean(text: str, tmp_path: Path) -> None:
    assert refused_and_warned(tmp_path, {"controlplane/70-a.yaml": text}) == ((), ())


def test_a_plugin_that_is_deleted_first_may_be_written_whole(tmp_path: Path) -> None:
    delete = "cluster: {apiServer: {admissionControl: {$patch: delete}}}\n"
    files = {"controlplane/70-a.yaml": delete, "controlplane/71-b.yaml": WHOLE}
    assert refused_and_warned(tmp_path, files) == ((), ())


def test_an_equal_audit_rule_does_nothing_and_is_warned_of(tmp_path: Path) -> None:
    rules = "cluster: {apiServer: {auditPolicy: {rules: [{level: None, users: [a]}, {users: [a], level: None}]}}}\n"
    refused, (line,) = refused_and_warned(tmp_path, {"controlplane/70-a.yaml": rules})
    assert refused == ()
    assert "entry 1 does nothing in cluster.apiServer.auditPolicy.rules, where patches/controlplane/70-a.yaml:1" in line


def test_an_entry_is_shown_as_it_is_but_for_secrets(tmp_path: Path) -> None:
    (line,), _ = refused_and_warned(tmp_path, {"controlplane/70-a.yaml": SECURITY % "users: ['{x}', '{x}']"})
    assert "(cp1): {x} appears twice in cluster" in line
    (line,), _ = refused_and_warned(tmp_path, {"controlplane/70-a.yaml": SECURITY % "tokens: [hunter2, hunter2]"})
    assert "(cp1): entry 1 appears twice in cluster" in line and "hunter2" not in line
