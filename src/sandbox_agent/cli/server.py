"""`server`: the daemon in the foreground."""

from __future__ import annotations

import argparse
import gc

from ..config import Config, from_environment
from ..errors import InvalidRequest
from .failures import WrongUsage
from .table import SETTINGS


def server(args: argparse.Namespace) -> int:
    # Importing the daemon creates no garbage, and collecting takes a tenth of the start. `serve` enables it once it is up.
    gc.disable()
    from ..http.serve import serve

    return serve(config_of(args))


def config_of(args: argparse.Namespace) -> Config:
    """The settings from flags and the environment."""
    try:
        return from_environment({setting.name: getattr(args, setting.name, None) for setting in SETTINGS})
    except InvalidRequest as error:
        raise WrongUsage(error.detail) from None
