"""The check of ``clientConfiguration`` that ConfigurationApply and Bootstrap share."""

from lab.standin.resource import ProviderError
from lab.standin.values import Properties


def check_clients(inputs: Properties) -> None:
    """Raise ``ProviderError`` unless exactly one of the two forms of the identity is given."""
    both = "client_configuration or client_configuration_wo"
    given = [name for name in ("clientConfiguration", "clientConfigurationWo") if name in inputs]
    if not given:
        raise ProviderError(f"Missing client configuration: Exactly one of {both} must be set")
    if len(given) > 1:
        raise ProviderError(f"Conflicting client configuration: Only one of {both} can be set, not both")
