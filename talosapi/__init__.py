"""A small typed client of the Talos machine API: what has to be asked of machines that the provider does not ask."""

from talosapi.client import Client
from talosapi.credentials import Credentials
from talosapi.errors import Code, CredentialsError, NotReady, TalosError
from talosapi.results import ApplyMode, RebootMode, WipeMode

__all__ = [
    "ApplyMode",
    "Client",
    "Code",
    "Credentials",
    "CredentialsError",
    "NotReady",
    "RebootMode",
    "TalosError",
    "WipeMode",
]
