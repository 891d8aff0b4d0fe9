"""The files of a git revision, in a folder of their own: the work tree is not touched."""

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.errors import CliError


@contextmanager
def tree(project: Path, revision: str | None) -> Iterator[Path]:
    """The files of a revision in a folder that is removed at the end, or the checkout itself; raises CliError."""
    if revision is None:
        yield project
        return
    archive = _git(project, "archive", "--format=tar", _commit(project, revision))
    with tempfile.TemporaryDirectory(prefix="talos-stacks-") as name:
        folder = Path(name)
        (folder / "patches").mkdir()
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            # What links lead to may be anywhere in it; links that nothing here reads may lead anywhere.
            wanted = [each for each in tar.getmembers() if each.isfile() or (each.issym() and _is_ours(each.name))]
            try:
                tar.extractall(folder, wanted, filter="data")
            except tarfile.FilterError as error:
                raise CliError(f"{revision}: {error.tarinfo.name} is a link out of the repository") from None
        yield folder


def _is_ours(name: str) -> bool:
    return name.startswith("patches/") or ("/" not in name and name.startswith("Pulumi.") and name.endswith(".yaml"))


def _commit(project: Path, revision: str) -> str:
    try:
        return (
            _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
            .decode()
            .strip()
        )
    except CliError:
        raise CliError(f"{revision} is not a revision of {project}") from None


def _git(project: Path, *arguments: str) -> bytes:
    command = ["git", *arguments]
    try:
        ended = subprocess.run(command, cwd=project, capture_output=True, check=False)
    except OSError as error:
        raise CliError(f"git cannot be run: {error.strerror}") from None
    if ended.returncode:
        raise CliError(f"git {arguments[0]}: {' '.join(ended.stderr.decode(errors='replace').split())}")
    return ended.stdout
