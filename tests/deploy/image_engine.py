"""The stand-in for a Docker engine, with containers that run the image of the Dockerfile: its files, user and entry point.

A machine that cannot build images runs the daemon of this checkout instead, and says so. `python -m tests.deploy.image_engine SOCKET`
serves a socket until its input ends. `python -m tests.images.builder slim` builds the image.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.deploy.engine import Program, RunningEngine, serve
from tests.fleet.engine import WireContainer
from tests.images.builder import Builder, why_not
from tests.images.image import USER, Image, terminate


class ImageEngine(RunningEngine):
    runs = "the image"

    def __init__(self, folder: Path, image: Image) -> None:
        super().__init__(folder)
        self._image = image

    def fill(self, volume: Path, place: str) -> None:
        self._image.fill(volume, place)

    def launch(
        self,
        spec: WireContainer,
        env: Mapping[str, str],
        places: Mapping[str, Path],
        output: IO[bytes],
    ) -> Program:
        return self._image.start(
            [*self._image.config["Entrypoint"], *spec.cmd],
            {**self._image.environ(), **env},
            {outside: inside for inside, outside in places.items()},
            output,
            spec.working_dir,
        )

    def terminate(self, program: Program) -> None:
        terminate(program)

    def unpack(self, folder: Path, files: Mapping[str, bytes]) -> None:
        super().unpack(folder, files)
        for path in files:
            file = folder / path.lstrip("/")
            for mine in (file.parent, file):
                os.chown(mine, USER, USER)


@contextmanager
def engine(folder: Path) -> Iterator[RunningEngine]:
    """With the image, if this machine can build one."""
    if why := why_not():
        told = f"DOCKER'S STAND-IN RUNS THE DAEMON OF THIS CHECKOUT, NOT THE IMAGE: {why}"
        assert not os.environ.get("CI"), told
        print(told, file=sys.stderr)
        yield RunningEngine(folder)
        return
    with Builder().built("slim") as image:
        yield ImageEngine(folder, image)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home, engine(Path(home)) as stand_in:
        serve(stand_in, Path(sys.argv[1]))
