"""``python -m talosapi.proto``: generate ``talosapi/gen`` from the ``.proto`` files beside this one.

Inside the files and in protobuf's pool every file is called ``talosapi/gen/<name>.proto``: so the generated modules
import each other as ``talosapi.gen.<name>_pb2``, and no other package has a file of the same name.
"""

import sys
import sysconfig
import tempfile
from importlib.resources import files
from pathlib import Path

PROTOS = Path(__file__).parent
GENERATED = PROTOS.parent / "gen"
_PACKAGE = "talosapi/gen"


def generate(into: Path) -> tuple[Path, ...]:
    """Generate into the directory and return the files made; needs the development requirements.

    Raises RuntimeError when protoc refuses; what it has against the files is on stderr.
    """
    from grpc_tools import protoc  # type: ignore[import-untyped]  # it ships no types

    scripts = Path(sysconfig.get_path("scripts"))
    names = sorted(file.name for file in PROTOS.glob("*.proto"))
    with tempfile.TemporaryDirectory() as work:
        arguments = [
            "protoc",
            f"-I{_PACKAGE}={PROTOS}",
            f"-I{files('grpc_tools') / '_proto'}",
            f"--plugin=protoc-gen-grpclib_python={scripts / 'protoc-gen-grpclib_python'}",
            f"--plugin=protoc-gen-mypy={scripts / 'protoc-gen-mypy'}",
            f"--python_out={work}",
            f"--grpclib_python_out={work}",
            f"--mypy_out=quiet:{work}",
            *(f"{_PACKAGE}/{name}" for name in names),
        ]
        if protoc.main(arguments) != 0:
            raise RuntimeError("protoc refused the files in talosapi/proto; see its message above")
        made = sorted((Path(work) / _PACKAGE).iterdir())
        return tuple(_write(file, into) for file in made if not _is_empty_service(file))


def _is_empty_service(file: Path) -> bool:
    """Tell whether the grpclib plugin wrote a file for a proto without a service."""
    return file.name.endswith("_grpc.py") and "class " not in file.read_text()


def _write(file: Path, into: Path) -> Path:
    target = into / file.name
    target.write_bytes(file.read_bytes())
    return target


def main() -> int:
    """Replace what is in ``talosapi/gen``."""
    for old in (*GENERATED.glob("*_pb2.py*"), *GENERATED.glob("*_grpc.py")):
        old.unlink()
    made = generate(GENERATED)
    sys.stdout.write(f"{len(made)} files in {GENERATED}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
