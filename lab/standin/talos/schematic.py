"""``imagefactory.Schematic``: registers a schematic at the Image Factory, which answers its id."""

import asyncio
import json
import urllib.error
import urllib.request

import yaml

from lab.standin.resource import ProviderError, Resource
from lab.standin.talos import package
from lab.standin.talos.factory import ImageFactory
from lab.standin.values import Properties

_TIMEOUT = 60.0  # seconds


class Schematic(Resource):
    """A schematic; its id is the factory's. None given means the image without anything."""

    schema = package.SCHEMATIC

    def __init__(self, factory: ImageFactory) -> None:
        """Register at ``factory``."""
        self._factory = factory

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """Only the factory knows the id."""
        return dict(inputs)

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Post it."""
        identity = await asyncio.to_thread(self._post, planned.get("schematic") or "")
        return identity, planned

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Post the new one. The engine keeps the resource's id; the property follows."""
        return {**planned, "id": await asyncio.to_thread(self._post, planned.get("schematic") or "")}

    def _post(self, text: str) -> str:
        _check_yaml(text)
        url = f"{self._factory.url}/schematics"
        request = urllib.request.Request(url, data=text.encode(), method="POST")  # noqa: S310 - checked at Configure
        try:
            # The default context honours SSL_CERT_FILE, as the real plugin does.
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310
                identity = json.load(answer)["id"]
        except urllib.error.HTTPError as error:
            told = error.read(500).decode("utf-8", "replace").strip()
            raise ProviderError(f"failed to create schematic: HTTP {error.code}: {told}") from error
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise ProviderError(f"failed to create schematic: {url}: {reason}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ProviderError(f"failed to create schematic: {url} did not answer an id") from error
        return str(identity)


def _check_yaml(text: str) -> None:
    try:
        document = yaml.load(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise ProviderError("failed to unmarshal schematic: it is not YAML") from error
    if document is not None and not isinstance(document, dict):
        raise ProviderError("failed to unmarshal schematic: it must be a map")
