"""What a machine says of its image and of an installer."""

from talosapi import answers
from talosapi.gen import lifecycle_pb2, resources_pb2
from talosapi.results import Installed


def layer(name: str, version: str) -> bytes:
    metadata = resources_pb2.ExtensionStatusSpec.Metadata(name=name, version=version)
    return resources_pb2.ExtensionStatusSpec(image=f"{name}.sqsh", metadata=metadata).SerializeToString()


def progress(*said: str | int) -> list[lifecycle_pb2.LifecycleServiceInstallProgress]:
    kind = lifecycle_pb2.LifecycleServiceInstallProgress
    return [kind(exit_code=each) if isinstance(each, int) else kind(message=each) for each in said]


def test_the_schematic_is_the_version_of_the_layer_of_that_name() -> None:
    layers = [layer("iscsi-tools", "v0.2.0"), b"\xff", layer("schematic", "376567988ad3"), layer("modules.dep", "6")]
    assert answers.schematic(layers) == "376567988ad3"


def test_an_image_that_no_factory_built_has_no_schematic() -> None:
    assert answers.schematic([layer("iscsi-tools", "v0.2.0")]) == ""


def test_an_installer_is_known_by_its_exit_code_and_its_last_words() -> None:
    said = ["one", "two", " ", "three\n", "four"]
    assert answers.installed(progress(*said, 6)) == Installed(6, ("two", "three", "four"))
    assert answers.installed(progress("done", 0)) == Installed(0, ("done",))


def test_an_installer_that_says_no_exit_code_did_not_end_well() -> None:
    assert answers.installed(progress("writing")) == Installed(None, ("writing",))
