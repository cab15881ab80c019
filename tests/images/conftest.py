"""The images of the Dockerfile, built here and run without a container engine. Started by `make image-test`."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from .builder import Builder, why_not
from .image import Image


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "images":
            item.add_marker(pytest.mark.image)
            item.add_marker(pytest.mark.timeout(7200))  # a first build fetches a distribution


@pytest.fixture(scope="session")
def builder() -> Builder:
    if why := why_not():
        told = f"THE IMAGES ARE NOT TESTED: {why}"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    return Builder()


@pytest.fixture(scope="session")
def slim(builder: Builder) -> Iterator[Image]:
    with builder.image("slim") as image:
        yield image


@pytest.fixture(scope="session")
def with_agents(builder: Builder) -> Iterator[Image]:
    with builder.image("agents") as image:
        yield image


@pytest.fixture(scope="session")
def with_desktop(builder: Builder) -> Iterator[Image]:
    with builder.image("desktop") as image:
        yield image


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
