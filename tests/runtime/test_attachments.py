"""Files of a session: whole or not there."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_agent.runtime.attachments import Attachments

SPACE = 1 << 20


@pytest.fixture
def little_space() -> Iterator[None]:
    """No file of this process may be larger: writing on fails as it does on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SPACE, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("little_space")
def test_a_file_that_does_not_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    attachments = Attachments(tmp_path)
    with pytest.raises(OSError, match="too large"):
        attachments.save("s", "film.bin", bytes(2 * SPACE))
    assert list(attachments.folder("s").iterdir()) == []
    assert attachments.save("s", "note.txt", b"fits").read_bytes() == b"fits"
