"""`log migrate`: creates or updates the tables of a log in PostgreSQL."""

from __future__ import annotations

import argparse

from ..errors import InvalidRequest, SandboxAgentError
from ..store.base import StoreTooNew
from ..store.opening import POSTGRES, Keys, address_of, open_postgres
from .failures import CommandFailed, WrongUsage
from .output import say


def migrate(args: argparse.Namespace) -> int:
    try:
        url = address_of(args.log)
        if not url.startswith(POSTGRES):
            raise WrongUsage(
                "only a log in PostgreSQL can be migrated with this command; expected postgresql://..."
            )
        store = open_postgres(url, Keys())
    except InvalidRequest as error:
        raise WrongUsage(error.detail) from None
    except SandboxAgentError as error:
        raise CommandFailed(error.detail) from None
    except StoreTooNew as error:
        raise CommandFailed(str(error)) from None
    say(f"the log {store.identity} is up to date")
    store.close()
    return 0
