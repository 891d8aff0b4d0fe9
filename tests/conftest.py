"""The same examples every time: new ones are for ``make fuzz``. At the end, how much was compared with Talos."""

import pytest
from hypothesis import settings

settings.register_profile("tests", derandomize=True, database=None)
settings.load_profile("tests")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many pairs of answers tests/oracle compared."""
    reports = [each for each in terminalreporter.getreports("passed") if each.when == "call"]
    pairs = sum(int(str(value)) for each in reports for name, value in each.user_properties if name == "pairs")
    if pairs:
        terminalreporter.write_line(f"==> {pairs} answers of machinery/ are those of Talos's own library")
