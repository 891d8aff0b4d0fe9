from dataclasses import dataclass

import pytest

from machineconfig.schematic import Schematic, UnknownFormatError, disk_image, installer

GUEST_AGENT = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"


@dataclass(frozen=True)
class Image:
    extensions: tuple[str, ...] = ()
    extra_kernel_args: tuple[str, ...] = ()


def test_the_schematic_without_customization_has_the_factory_id() -> None:
    assert Schematic().id == "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"


def test_the_schematic_with_the_guest_agent_has_the_factory_id() -> None:
    assert Schematic.of(Image(extensions=("siderolabs/qemu-guest-agent",))).id == GUEST_AGENT


def test_extensions_are_sorted_and_counted_once_and_kernel_arguments_keep_their_order() -> None:
    image = Image(extensions=("siderolabs/z", "siderolabs/a", "siderolabs/z"), extra_kernel_args=("b=1", "-a", "b=2"))
    assert Schematic.of(image).yaml == (
        "customization:\n"
        "    extraKernelArgs:\n"
        "        - b=1\n"
        "        - -a\n"
        "        - b=2\n"
        "    systemExtensions:\n"
        "        officialExtensions:\n"
        "            - siderolabs/a\n"
        "            - siderolabs/z\n"
    )


@pytest.mark.parametrize(
    ("argument", "written"),
    [
        ("console=ttyS0,115200", "console=ttyS0,115200"),
        ('dyndbg="file x +p"', 'dyndbg="file x +p"'),
        ("off", '"off"'),
        ("1.10", '"1.10"'),
        ("0o7", '"0o7"'),
        ("2024-01-01", '"2024-01-01"'),
        ("12:30:45", '"12:30:45"'),
        ("a: b", "'a: b'"),
        ("a #b", "'a #b'"),
        ("'a", "'''a'"),
        ("*a", "'*a'"),
        ("---a", "'---a'"),
        ("?a", "?a"),
    ],
)
def test_kernel_arguments_are_quoted_as_the_factory_quotes_them(argument: str, written: str) -> None:
    assert f"        - {written}\n" in Schematic(extra_kernel_args=(argument,)).yaml


def test_a_kernel_argument_with_a_control_character_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be printed"):
        _ = Schematic(extra_kernel_args=("a\nb",)).yaml


@pytest.mark.parametrize(
    ("platform", "secure_boot", "reference"),
    [
        ("nocloud", False, f"factory.talos.dev/nocloud-installer/{GUEST_AGENT}:v1.13.9"),
        ("openstack", False, f"factory.talos.dev/openstack-installer/{GUEST_AGENT}:v1.13.9"),
        ("scaleway", False, f"factory.talos.dev/scaleway-installer/{GUEST_AGENT}:v1.13.9"),
        ("metal", False, f"factory.talos.dev/metal-installer/{GUEST_AGENT}:v1.13.9"),
        ("nocloud", True, f"factory.talos.dev/nocloud-installer-secureboot/{GUEST_AGENT}:v1.13.9"),
    ],
)
def test_the_installer_keeps_platform_schematic_and_boot(platform: str, secure_boot: bool, reference: str) -> None:
    found = installer("https://factory.talos.dev", platform, GUEST_AGENT, "v1.13.9", secure_boot=secure_boot)
    assert found == reference


def test_an_own_factory_keeps_its_port() -> None:
    assert installer("https://127.0.10.2:8443/", "metal", GUEST_AGENT, "v1.13.9").startswith("127.0.10.2:8443/metal-")


def test_proxmox_gets_a_disk_image_that_it_can_import() -> None:
    image = disk_image("https://factory.talos.dev", "nocloud", GUEST_AGENT, "v1.13.9")
    assert image.url == f"https://factory.talos.dev/image/{GUEST_AGENT}/v1.13.9/nocloud-amd64.qcow2"
    assert image.file_name == "talos-v1.13.9-ce4c9805-nocloud-amd64.qcow2"
    assert image.content_type == "import"


def test_a_secure_boot_image_says_so_in_its_name() -> None:
    image = disk_image("factory.talos.dev", "nocloud", GUEST_AGENT, "v1.13.9", secure_boot=True)
    assert image.url.endswith("/nocloud-amd64-secureboot.qcow2")


@pytest.mark.parametrize("platform", ["nocloud", "openstack", "scaleway"])
def test_a_compressed_image_is_refused_where_nothing_unpacks_it(platform: str) -> None:
    with pytest.raises(UnknownFormatError, match=r"raw\.xz is not a disk image that platform .* can take; use .*qcow2"):
        disk_image("https://factory.talos.dev", platform, GUEST_AGENT, "v1.13.9", image_format="raw.xz")
