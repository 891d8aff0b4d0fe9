"""What is said before the first resource."""

import pytest

from components.plan import contradictions


def test_a_variable_with_another_value_than_the_stack_is_named_and_its_value_is_not() -> None:
    faults = contradictions({"PROXMOX_VE_ENDPOINT": "https://pve:8006"}, {"PROXMOX_VE_ENDPOINT": "https://other:8006"})
    assert faults == [
        "the environment variable PROXMOX_VE_ENDPOINT contradicts the stack file; unset it, the stack file alone says"
        " where to go"
    ]


@pytest.mark.parametrize("environment", [{}, {"PROXMOX_VE_ENDPOINT": ""}, {"PROXMOX_VE_ENDPOINT": "https://pve:8006"}])
def test_a_variable_that_says_the_same_or_nothing_is_no_fault(environment: dict[str, str]) -> None:
    assert contradictions({"PROXMOX_VE_ENDPOINT": "https://pve:8006"}, environment) == []


def test_a_credential_in_the_environment_is_a_fault_because_it_comes_from_the_stack() -> None:
    assert len(contradictions({"PROXMOX_VE_API_TOKEN": None}, {"PROXMOX_VE_API_TOKEN": "x"})) == 1
