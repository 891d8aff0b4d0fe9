"""The committed generated files, and the names and numbers that must be Talos's."""

from pathlib import Path

from talosapi.gen import cluster_pb2, cosi_pb2, image_pb2, lifecycle_pb2, machine_pb2, storage_pb2
from talosapi.proto.__main__ import GENERATED, generate


def test_the_committed_files_are_what_the_protos_generate(tmp_path: Path) -> None:
    made = {file.name: file.read_bytes() for file in generate(tmp_path)}
    committed = {file.name: file.read_bytes() for file in GENERATED.iterdir() if file.suffix in {".py", ".pyi"}}
    del committed["__init__.py"]
    assert made.keys() == committed.keys(), "run `make proto`"
    for name, content in made.items():
        assert committed[name] == content, f"talosapi/gen/{name} is out of date; run `make proto`"


def test_the_services_have_the_names_talos_serves_them_under() -> None:
    modules = (machine_pb2, lifecycle_pb2, image_pb2, storage_pb2, cluster_pb2, cosi_pb2)
    services = {service.full_name for module in modules for service in module.DESCRIPTOR.services_by_name.values()}
    assert services == {
        "machine.MachineService",
        "machine.LifecycleService",
        "machine.ImageService",
        "storage.StorageService",
        "cluster.ClusterService",
        "cosi.resource.State",
    }


def test_a_message_has_the_bytes_talos_reads() -> None:
    request = machine_pb2.ApplyConfigurationRequest(
        data=b"x", mode=machine_pb2.ApplyConfigurationRequest.STAGED, dry_run=True
    )
    assert request.SerializeToString() == b"\x0a\x01x\x20\x03\x28\x01"
