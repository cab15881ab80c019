"""JSON-RPC: how frames are classified, and which requests wait for an answer."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from sandbox_agent.agents.jsonrpc import MAX_WAITING, Call, Note, Reply, Rpc, RpcError, key_of, read
from sandbox_agent.agents.nesting import shallow


class Peer:
    """One side, and what it wrote."""

    def __init__(self, version: Any = UNSET) -> None:
        self.sent: list[Any] = []
        self.rpc: Rpc[str, str] = Rpc(self._send, version=version)

    def _send(self, message: object) -> None:
        self.sent.append(msgspec.json.decode(msgspec.json.encode(message)))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (b'{"id":1,"result":{"a":1}}', Reply(1, None, Raw(b'{"a":1}'))),
        (b'{"id":"x","error":{"message":"no","code":5}}', Reply("x", RpcError("no", 5), Raw(b"null"))),
        (b'{"id":null,"error":{"message":"no"}}', Reply(None, RpcError("no"), Raw(b"null"))),
        (b'{"method":"m"}', Note("m", Raw(b"{}"))),
        (b'{"jsonrpc":"2.0","method":"m","params":[1]}', Note("m", Raw(b"[1]"))),
        (b'{"id":0,"method":"m","params":{}}', Call(0, "m", Raw(b"{}"))),
    ],
)
def test_a_frame_is_an_answer_a_notification_or_a_request(frame: bytes, message: object) -> None:
    assert read(frame) == message


def test_an_answer_matches_its_request_once() -> None:
    peer = Peer("2.0")
    peer.rpc.call("open", {"a": 1}, "meant")
    peer.rpc.notify("hello")
    assert peer.sent == [
        {"jsonrpc": "2.0", "id": 1, "method": "open", "params": {"a": 1}},
        {"jsonrpc": "2.0", "method": "hello"},
    ]
    assert [peer.rpc.answered(id) for id in (None, "1", 1, 1)] == [None, None, "meant", None]


def test_unanswered_requests_are_bounded() -> None:
    peer = Peer()
    for n in range(MAX_WAITING + 1):
        peer.rpc.call("m", None, f"meant {n}")
    assert [peer.rpc.answered(id) for id in (1, 2)] == [None, "meant 1"]


@pytest.mark.parametrize("fault", [msgspec.ValidationError("no"), RecursionError(), KeyError("ours")])
def test_an_unreadable_request_is_refused_and_raised(fault: Exception) -> None:
    peer = Peer()

    def put(call: Call) -> None:
        raise fault

    with pytest.raises(type(fault)):
        peer.rpc.attend(Call(7, "m", Raw(b"{}")), put)
    assert peer.sent == [{"id": 7, "error": {"message": "the request was not understood", "code": -32602}}]


def test_requests_beyond_the_bound_are_refused() -> None:
    peer = Peer()
    put: list[Call] = []
    peer.rpc.open_requests = dict.fromkeys(map(key_of, range(MAX_WAITING)), "asked")
    peer.rpc.attend(Call("late", "m", Raw(b"{}")), put.append)
    assert put == []
    assert [refusal["id"] for refusal in peer.sent] == ["late"]


DEEP = b"[" * 5_000 + b"]" * 5_000


@pytest.mark.parametrize(
    ("frame", "refused"),
    [(b'{"method":"m","params":%b,"id":3}', [3]), (b'{"method":"m","params":%b}', [])],
)
def test_a_request_that_is_nested_too_deep_is_refused(frame: bytes, refused: list[int]) -> None:
    peer = Peer()
    assert peer.rpc.read_surface(frame % DEEP) is None
    assert [refusal["id"] for refusal in peer.sent] == refused


def test_an_answer_that_is_nested_too_deep_loses_its_deeper_levels() -> None:
    answer = Peer().rpc.read_surface(b'{"id":1,"result":{"a":%b,"b":[1]}}' % DEEP)
    assert isinstance(answer, Reply)
    assert msgspec.json.decode(answer.result)["b"] == [1]


# -- nesting ----------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.integers(0, 6))
def test_deeper_levels_become_null_and_the_rest_is_unchanged(value: Any, levels: int) -> None:
    assert msgspec.json.decode(shallow(msgspec.json.encode(value), levels)) == cut(value, levels)


def cut(value: Any, levels: int) -> Any:
    match value:
        case list() | dict() if levels == 0:
            return None
        case list():
            return [cut(item, levels - 1) for item in value]
        case dict():
            return {name: cut(member, levels - 1) for name, member in value.items()}
    return value


@given(st.binary())
def test_invalid_json_stays_invalid(frame: bytes) -> None:
    shallow(frame)
