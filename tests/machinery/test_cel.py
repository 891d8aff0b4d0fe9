"""Expressions that Talos takes, and ones that it refuses: each was tried on Talos's own reader."""

import pytest

from machinery.cel import DISK, LINK, OOM_RANKING, OOM_TRIGGER, VOLUME, Context, expression_problem

GOOD = [
    (DISK, "disk.size > 100u * GB && !system_disk"),
    (DISK, "disk.transport == 'nvme' || disk.bus_path == \"/pci/*\""),
    (DISK, 'glob("a*", disk.model)'),
    (DISK, 'disk.model.startsWith("a") && disk.serial.matches("^a")'),
    (DISK, '"a" in disk.symlinks'),
    (DISK, 'disk.symlinks.exists(s, s.startsWith("/dev"))'),
    (DISK, "disk.size > 1u ? true : false"),
    (DISK, "disk.size in [1u, 2u]"),
    (DISK, "disk.serial.size() > 3 && has(disk.serial)"),
    (DISK, "disk.size > 100u*GB // a comment"),
    (DISK, "int(disk.size) > 5"),
    (DISK, "dyn(disk.size) > 1"),
    (DISK, 'disk.model == "a" + "b"'),
    (DISK, 'disk.symlinks[0] == "https://a"'),
    (DISK, "{'a': 1}['a'] == 1"),
    (DISK, "type(disk.size) == uint"),
    (VOLUME, 'volume.partition_label == "a" && disk.size > 1u'),
    (LINK, 'glob("00:1a:2b:*", mac(link.permanent_addr))'),
    (LINK, "link.mtu > 1500u"),
    (OOM_TRIGGER, 'memory_full_avg10 > 12.0 && time_since_trigger > duration("10s")'),
    (OOM_TRIGGER, "multiply_qos_vectors(d_qos_memory_full_avg10, {System: 8.0, Podruntime: 4.0}) > 3.0"),
    (DISK, "[[1]].map(x, x.map(y, y + 1)) == [[2]] && disk.symlinks.filter(x, x != '').size() > 0"),
    (DISK, "[1, 'a'] == [1] && {}.size() == 0 && disk == null && type(disk.size) == uint"),
    (LINK, "link.vlan.vid == 1u || link.bond_master == null"),
    (OOM_TRIGGER, "timestamp('2024-01-01T00:00:00Z') + duration('1s') > timestamp(0) && time_since_trigger == null"),
    (OOM_RANKING, "memory_max.optMap(x, double(x)).orValue(1.0)"),
    (OOM_RANKING, "memory_max.hasValue() ? 0.0 : {Besteffort: 1.0}[class] * double(memory_current.orValue(0u))"),
]
BAD = [
    (DISK, "disk.size > 100", "uint > int is not defined"),
    (DISK, "disk.size == 1.0", "uint == double"),
    (DISK, "disk.foo == 'a'", "disk has no foo"),
    (DISK, "foo", 'the name "foo" is not known'),
    (DISK, "disk.size", "it gives uint and must give bool"),
    (DISK, "disk", "it gives disk"),
    (DISK, "!disk.size", "! uint is not defined"),
    (DISK, "-disk.size > 1u", "- uint is not defined"),
    (DISK, "(disk.size > 1u", '")" is missing'),
    (DISK, "disk.size > 1u)", '")" is not expected'),
    (DISK, "disk.size > 1u &&", '"the end" is not expected'),
    (DISK, "disk.size > 1u and true", '"and" is not expected'),
    (DISK, "disk.transport = 'nvme'", "cannot be read"),
    (DISK, "glob(disk.model)", "glob is not for (string)"),
    (DISK, "disk.serial.matches(1)", "string has no function matches(int)"),
    (DISK, "disk.model.lowerAscii() == 'a'", "no function lowerAscii"),
    (DISK, "disk['size'] > 1u", "disk has no items"),
    (DISK, "disk.symlinks.filter(x, x > 1).size() > 0", "string > int"),
    (DISK, "disk.size > 1u ? 1 : 'a'", "a choice by bool between int and string"),
    (DISK, "disk.size ? true : false", "a choice by uint"),
    (DISK, "disk..size", 'a name is missing after "."'),
    (LINK, "disk.size > 1u", 'the name "disk" is not known'),
    (OOM_RANKING, "1", "must give double"),
    (DISK, "dyn(true)", "it gives dyn and must give bool"),
    (DISK, "type(1)", "it gives type"),
    (DISK, "has(true)", "has needs a field"),
    (DISK, "disk.symlinks[0u] == 'a'", "list(string) has no items by uint"),
    (DISK, "disk.symlinks.all(x, x)", "! string is not defined"),
    (DISK, "disk.serial == null", "string == null is not defined"),
    (DISK, "9223372036854775808 == 1", "is too large"),
    (DISK, "'\\q' == 'a'", "cannot be read"),
    (DISK, "disk.?size.orValue(1u) == 1u", "? before a key is not known here"),
    (LINK, "link.vlan.vlan_id == 1u", "vlan has no vlan_id"),
]


@pytest.mark.parametrize(("context", "text"), GOOD)
def test_it_is_taken(context: Context, text: str) -> None:
    assert expression_problem(text, context) == ""


@pytest.mark.parametrize(("context", "text", "message"), BAD)
def test_it_is_refused_with_the_reason(context: Context, text: str, message: str) -> None:
    assert message in expression_problem(text, context)
