"""Where Amp keeps its keys: `secrets.json`, one entry per service, named `apiKey@<address>`."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..credentials import Credential, KeyFile, KeyVariable, Sources


def read_secrets(content: bytes) -> Iterator[Credential]:
    for name, value in msgspec.json.decode(content, type=dict[str, object]).items():
        kind, _, service = name.partition("@")
        if kind == "apiKey" and isinstance(value, str) and value:
            yield Credential("api_key", value, "AMP_API_KEY", service)


SOURCES = Sources(
    (KeyVariable("AMP_API_KEY"),),
    files=(KeyFile("XDG_DATA_HOME", ".local/share", "amp/secrets.json", read_secrets),),
    login="`{program} login`",
)
