"""``download.File``: Proxmox VE fetches an image by itself; only the first bytes travel here.

What is refused is what leaves a virtual machine that cannot boot: an archive that Proxmox VE cannot unpack, a file
name whose ending its content type does not take, bytes that are not what the name says.
"""

import asyncio
import re
import ssl
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from lab.standin.proxmoxve import images, storage
from lab.standin.proxmoxve.session import Session
from lab.standin.resource import ProviderError, Resource
from lab.standin.schema import Failure, ResourceSchema
from lab.standin.values import UNKNOWN, Properties

_DEFAULTS: Properties = {"overwrite": True, "overwriteUnmanaged": False, "uploadTimeout": 600, "verify": True}
_ENDINGS = {"iso": (".iso", ".img"), "import": (".qcow2", ".raw", ".vmdk", ".ova"), "vztmpl": (".tar.gz", ".tar.xz")}
_ARCHIVES = {"gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd", "bz2": b"BZh", "lzo": b"\x89LZO", "xz": b"\xfd7zXZ\x00"}
_DECOMPRESSED = ("gz", "lzo", "zst", "bz2")
_FIRST_BYTES = 40 << 10  # enough for the volume descriptor of an ISO image, 32 KiB in


class File(Resource):
    """A downloaded file; its id is ``DATASTORE:CONTENT/NAME``."""

    replaced_by = frozenset(
        {"contentType", "datastoreId", "nodeName", "url", "checksum", "checksumAlgorithm", "fileName", "size"}
        | {"decompressionAlgorithm"}
    )

    def __init__(self, schema: ResourceSchema, session: Session) -> None:
        """Stand in for one of the SDK's two names of this resource."""
        self.schema = schema
        self._session = session

    def check(self, name: str, inputs: Properties) -> list[Failure]:
        """Refuse what the provider and Proxmox VE refuse without looking at the file."""
        found = [Failure(key, reason) for key, reason in _faults(inputs).items()]
        if ("checksum" in inputs) != ("checksumAlgorithm" in inputs):
            found.append(Failure("checksum", "checksum and checksumAlgorithm belong together"))
        return found

    async def plan(self, state: Properties | None, inputs: Properties) -> Properties:
        """The name comes from the address; the size is known only afterwards."""
        url = inputs["url"]
        name = UNKNOWN if url is UNKNOWN else urlsplit(url).path.rsplit("/", 1)[-1]
        kept: Properties = {"size": UNKNOWN}
        if state:
            kept = {key: state[key] for key in ("fileName", "size") if key in state}
        return {"fileName": name, **_DEFAULTS, **kept, **inputs}

    async def create(self, planned: Properties, inputs: Properties) -> tuple[str, Properties]:
        """Fetch the first bytes, look at them, and remember the file."""
        self._session.authorize()
        head, size = await asyncio.to_thread(_fetch, planned)
        _check_content(planned, head)
        facts = await asyncio.to_thread(images.facts, planned["url"])
        identity = f"{planned['datastoreId']}:{planned['contentType']}/{planned['fileName']}"
        key = _key(identity, planned)
        with self._session.store.change() as state:
            if key in state["files"] and not planned["overwriteUnmanaged"]:
                raise ProviderError(
                    f"file already exists in the datastore: {identity} on {planned['nodeName']}; it was created "
                    "outside of this program or is managed by another resource"
                )
            state["files"][key] = {**facts, "size": size}
        return identity, {**planned, "size": size}

    async def read(self, identity: str, state: Properties) -> Properties | None:
        """Tell whether the file is still there."""
        self._session.authorize()
        known = self._session.store.read()["files"].get(_key(identity, state))
        return {**state, "size": known["size"]} if known else None

    async def update(self, identity: str, state: Properties, planned: Properties, inputs: Properties) -> Properties:
        """Keep the new settings; nothing is fetched again."""
        return planned

    async def delete(self, identity: str, state: Properties) -> None:
        """Remove the file."""
        self._session.authorize()
        with self._session.store.change() as changed:
            changed["files"].pop(_key(identity, state), None)


def _key(identity: str, file: Properties) -> str:
    return f"{storage.holder(file['nodeName'], file['datastoreId'])}/{identity}"


def _faults(inputs: Properties) -> dict[str, str]:
    found: dict[str, str] = {}
    content, url = inputs["contentType"], inputs["url"]
    algorithm = inputs.get("decompressionAlgorithm")
    if content not in (UNKNOWN, *_ENDINGS):
        found["contentType"] = f"contentType must be one of iso, vztmpl, import, not {content}"
    if algorithm not in (None, UNKNOWN, *_DECOMPRESSED):
        known = ", ".join(_DECOMPRESSED)
        found["decompressionAlgorithm"] = f"Proxmox VE unpacks {known}, not {algorithm}"
    if url is UNKNOWN:
        return found
    if not re.match(r"https?://", url):
        found["url"] = "url must be an http or https address"
    elif urlsplit(url).path.endswith(".xz"):
        known = ", ".join(_DECOMPRESSED)
        found["url"] = f"Proxmox VE cannot unpack .xz (it knows {known}): ask for the qcow2 or raw.zst image"
    name = inputs.get("fileName") or urlsplit(url).path.rsplit("/", 1)[-1]
    endings = _ENDINGS.get(content, ())
    if name is not UNKNOWN and endings and not str(name).endswith(endings):
        found["fileName"] = f"wrong file extension: content type {content} takes {', '.join(endings)}, not {name}"
    return found


def _fetch(planned: Properties) -> tuple[bytes, int]:
    context = ssl.create_default_context()
    if not planned["verify"]:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(planned["url"], headers={"Range": f"bytes=0-{_FIRST_BYTES - 1}"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, context=context, timeout=planned["uploadTimeout"]) as answer:  # noqa: S310
            head = answer.read(_FIRST_BYTES)
            total = (answer.headers.get("Content-Range") or "").rpartition("/")[2]
            return head, int(total or answer.headers.get("Content-Length") or len(head))
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise ProviderError(f"could not download {planned['url']}: {reason}") from error


def _check_content(planned: Properties, head: bytes) -> None:
    packed = next((name for name, magic in _ARCHIVES.items() if head.startswith(magic)), None)
    wanted = planned.get("decompressionAlgorithm")
    name = str(planned["fileName"])
    if packed != wanted:
        told = f"decompressionAlgorithm is {wanted}" if wanted else "no decompressionAlgorithm is given"
        raise ProviderError(f"{name}: the file is {packed or 'not packed'}, but {told}")
    if packed:
        return
    looks = {".qcow2": head.startswith(b"QFI\xfb"), ".raw": head[510:512] == b"\x55\xaa"}
    looks[".iso"] = head[32769:32774] == b"CD001"
    ending = "." + name.rpartition(".")[2]
    if not looks.get(ending, True):
        raise ProviderError(f"{name}: the file does not begin like a {ending} file")
