"""How many examples: few that are the same every time, or FUZZ of them, new every time."""

import os

from hypothesis import HealthCheck, Phase, settings

_MANY = int(os.environ.get("FUZZ") or 0)
_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


def examples(few: int) -> settings:
    """The settings of a property: so many examples in `make test`, FUZZ in `make fuzz`."""
    if _MANY:
        return settings(
            max_examples=_MANY, deadline=None, derandomize=False, suppress_health_check=_SLOW, print_blob=True
        )
    # A failure says its example as it is: making it smaller would take longer than all the rest.
    phases = (Phase.explicit, Phase.generate)
    return settings(max_examples=few, deadline=None, phases=phases, suppress_health_check=_SLOW)
