"""The ids of schematics, computed here and answered by the Image Factory."""

import pulumi
import pytest

from components.images import confirmed


def test_a_factory_that_answers_another_id_stops_the_run() -> None:
    with pytest.raises(pulumi.RunError, match=r"schematic aa: the Image Factory answered bb; .* check `imageFactory`"):
        confirmed("aa", "bb")
    assert confirmed("aa", "aa") == "aa"
