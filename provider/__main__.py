"""``python -m provider ENGINE``: the plugin process that the engine starts."""

import sys
from types import ModuleType

# The SDK imports them with all the rest, and a provider uses neither: a third of its start, in every preview.
for unused in ("pulumi.automation", "pulumi.dynamic"):
    sys.modules[unused] = ModuleType(unused)

from provider.engine import Engine  # noqa: E402
from provider.plugin import Plugin  # noqa: E402
from provider.serving import serve  # noqa: E402

if __name__ == "__main__":
    address = next(argument for argument in reversed(sys.argv[1:]) if not argument.startswith("-"))
    serve(Plugin(Engine(address)), address)
