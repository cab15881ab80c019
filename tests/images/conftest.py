"""The image of the Dockerfile, built here and run without a container engine. Started by `make image-test`."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator

import pytest

from .image import Builder, Image


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "images":
            item.add_marker(pytest.mark.image)
            item.add_marker(pytest.mark.timeout(7200))  # a first build fetches a distribution


@pytest.fixture(scope="session")
def builder() -> Builder:
    missing = [program for program in ("buildah", "debootstrap", "unshare") if shutil.which(program) is None]
    if missing or os.geteuid() != 0:
        why = f"THE IMAGE IS NOT TESTED: it needs {', '.join(missing) or 'to run as root'}"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return Builder()


@pytest.fixture(scope="session")
def slim(builder: Builder) -> Iterator[Image]:
    with builder.image("slim") as image:
        yield image


@pytest.fixture(scope="session")
def with_agents(builder: Builder) -> Iterator[Image]:
    with builder.image("agents") as image:
        yield image


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
