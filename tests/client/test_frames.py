"""Frames may arrive in any pieces."""

from __future__ import annotations

import pytest

from sandbox_agent.client.frames import Frame, FrameReader

TEXT = (
    'retry: 3000\n\n: ping\n\n: here\nid: 0\n\nid: 1\ndata: {"a":"\u2028"}\n\nevent: session\ndata: {}\n\nid: 2\r\ndata: x\r\n\r\n'
).encode()


@pytest.mark.parametrize("step", [1, 2, 7, len(TEXT)])
def test_frames_may_arrive_in_any_pieces(step: int) -> None:
    reader = FrameReader()
    pieces = [TEXT[at : at + step] for at in range(0, len(TEXT), step)]
    assert [frame for piece in pieces for frame in reader.feed(piece)] == [
        Frame("0", b""),
        Frame("1", '{"a":"\u2028"}'.encode()),
        Frame(None, b"{}", "session"),
        Frame("2", b"x"),
    ]
