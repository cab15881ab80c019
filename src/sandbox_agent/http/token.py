"""The token that clients must send: its source and its rules."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ..config import PREFIX, Config
from ..errors import InvalidRequest
from .gate import is_loopback

FEWEST_CHARACTERS = 16

HOW_TO_TOKEN = """\
refusing to start without a token: anyone who can reach this address could run code.
  --token-file FILE   read the token from a file (recommended), e.g.
                      (umask 077; openssl rand -hex 24 > token) && sandbox-agent server --token-file token
  --token TOKEN       or the variable SANDBOX_AGENT_TOKEN
  --no-token          only where nobody else can connect"""


class Token(NamedTuple):
    text: str
    source: str
    """Where the user can find it."""


def token_of(config: Config) -> Token | None:
    """The required token; None only if that was asked for."""
    if token := given_token(config):
        return token
    if config.insecure_no_token or (config.no_token and is_loopback(config.host)):
        return None
    if config.no_token:
        raise InvalidRequest(
            f"refusing to listen on {config.host} without a token: anyone who can reach it could run code. "
            "Give it a token, or pass --insecure-no-token if nobody else can reach it"
        )
    raise InvalidRequest(HOW_TO_TOKEN)


def given_token(config: Config) -> Token | None:
    """The token from a file, a flag or a variable, if any."""
    if config.token_file is not None:
        path = Path(config.token_file).expanduser()
        try:
            text = path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"cannot read --token-file {config.token_file}: {error}") from None
        if not text:
            raise InvalidRequest(f"--token-file {config.token_file} is empty")
        return Token(_checked(text), f"the file {path.absolute()}")
    if config.token:
        variable = f"{PREFIX}TOKEN"
        is_variable = os.environ.get(variable) == config.token
        return Token(_checked(config.token), f"the variable {variable}" if is_variable else "--token")
    return None


def _checked(token: str) -> str:
    if not token.isascii() or not token.isprintable():
        raise InvalidRequest(
            "a token must consist of printable ASCII characters: many clients cannot send any others"
        )
    if len(token) < FEWEST_CHARACTERS:
        raise InvalidRequest(
            f"a token must have at least {FEWEST_CHARACTERS} characters: a shorter one can be guessed. "
            "`openssl rand -hex 24` makes a good one"
        )
    return token
