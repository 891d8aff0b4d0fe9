"""What is wrong with a patch that holds a secret is told without any part of it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cli.errors import CliError
from cli.provider import Generate
from tests.cli.conftest import Run
from tests.cli.fleet import Fleet

ASKED = '{{ secret("pw") }}'


@pytest.mark.parametrize(
    "patch",
    [
        f'machine: {{network: {{hostname: "{ASKED}"}}}}\n',
        f'machine: {{nodeLabels: {{"{ASKED}!": a}}}}\n',
        f'machine: {{time: {{bootTimeout: "{ASKED}"}}}}\n',
        f'machine: {{"{ASKED}": 1}}\n',
        f"machine: [{ASKED}\n",
        f'cluster: {{clusterName: "{ASKED}"}}\n',
        f"apiVersion: v1alpha1\nkind: {ASKED}\n",
        f'apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: "{ASKED}-+-+"\n',
    ],
)
def test_no_refusal_holds_what_a_template_asked_for(patch: str, run: Run, fleet: Fleet) -> None:
    fleet.secrets["pw"] = "correcthorse"
    fleet.apply()
    (fleet.checkout / "patches/controlplane/71-own.yaml.j2").write_text(patch)
    for arguments in (("render", "--stack", "lab", "--show-secrets"), ("diff",)):
        code, out, err = run(*arguments)
        assert (code, out) == (1, "") and "correcthorse" not in err.casefold()
        assert "patches/controlplane/71-own.yaml.j2:" in err


def test_a_secret_that_the_stack_does_not_have_is_named_with_the_command_that_sets_it(run: Run, fleet: Fleet) -> None:
    fleet.apply()
    (fleet.checkout / "patches/controlplane/71-own.yaml.j2").write_text("machine: {env: {a: " + ASKED + "}}\n")
    code, _, err = run("render", "--stack", "lab", "--show-secrets")
    assert code == 1
    assert "patches/controlplane/71-own.yaml.j2: asks for a secret that the stack does not have: pw; set it with" in err


def test_a_provider_that_refuses_real_secrets_is_not_quoted(
    run: Run, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.secrets["pw"] = "correcthorse"
    fleet.apply()
    (fleet.checkout / "patches/controlplane/71-own.yaml.j2").write_text("machine: {sysctls: {a: " + ASKED + "}}\n")

    def refuse(_: object) -> str:
        raise CliError("refused: correcthorse")

    @contextmanager
    def provider() -> Iterator[Generate]:
        yield refuse

    monkeypatch.setattr("cli.diff.provider", provider)
    code, out, err = run("diff", "--node", "lab-controlplane-01")
    assert (code, out) == (1, "") and "lab-controlplane-01: is refused" in err and "correcthorse" not in err
