"""The small protobuf encoder agrees with the real one."""

from lab.machine import wire
from talosapi.gen.machine_pb2 import EtcdMember, EtcdMemberStatus, VersionInfo


def test_it_writes_what_protobuf_writes() -> None:
    status = EtcdMemberStatus(protocol_version="3.6.5", db_size=300, is_learner=True, member_id=2**63 + 5)
    ours = wire.message((1, "3.6.5"), (2, 300), (9, True), (10, 2**63 + 5))
    assert EtcdMemberStatus.FromString(ours) == status


def test_it_leaves_out_what_is_empty() -> None:
    assert wire.message((1, ""), (2, 0), (9, False)) == b""
    assert VersionInfo.FromString(wire.message((1, "v"), (2, ""))) == VersionInfo(tag="v")


def test_messages_nest() -> None:
    assert EtcdMember.FromString(wire.message((3, "a"), (4, b"https://x"))).peer_urls == ["https://x"]
