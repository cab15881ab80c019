"""What we ask an OpenCode server for, and what its answers say: bodies in, facts out."""

from __future__ import annotations

import mimetypes
import secrets
import time
from collections.abc import Iterable
from urllib.parse import quote

from msgspec import Raw, structs

from ...schema.features import Catalogue, Mode, Model
from ...schema.inputs import McpServer, Prompt, Settings
from ..failures import Failure
from . import native
from .errors import failure_of
from .native import NativeError, lenient


def scope(directory: str) -> str:
    return f"?directory={quote(directory, safe='/')}"


def make_message_id() -> str:
    """An id that sorts by time among the server's own: the low 48 bits of the time, then anything."""
    ticks = time.time_ns() // 1_000_000 * 0x1000 & 0xFFFF_FFFF_FFFF
    return f"msg_{ticks:012x}{secrets.token_hex(7)}"


def prompt_parts(prompt: Prompt) -> tuple[native.TextInput | native.FileInput, ...]:
    """The text, and each file by its path: the server reads text into the prompt and encodes images itself."""
    text = (native.TextInput(prompt.text),) if prompt.text else ()
    return (
        *text,
        *(
            native.FileInput(
                f"file://{quote(file.path)}",
                _mime(file.path, file.mime),
                file.filename or file.path.rpartition("/")[2],
            )
            for file in prompt.attachments
        ),
    )


def _mime(path: str, told: str | None) -> str:
    mime = told or mimetypes.guess_type(path)[0] or ""
    # Whatever else it is, the agent's model is to read it as text.
    return mime if mime.startswith("image/") or mime == "application/pdf" else "text/plain"


def prompt_model(settings: Settings) -> native.PromptModel | None:
    if settings.model is None:
        return None
    provider, _, model = settings.model.partition("/")
    return native.PromptModel(provider, model or provider)


def session_model(settings: Settings) -> native.SessionModel | None:
    model = prompt_model(settings)
    return None if model is None else native.SessionModel(model.modelID, model.providerID, settings.variant)


def mcp_config(server: McpServer) -> dict[str, object]:
    if server.url is not None:
        return {"type": "remote", "url": server.url, "headers": server.headers, "enabled": True}
    command = [server.command or "", *server.args]
    return {"type": "local", "command": command, "environment": server.env, "enabled": True}


def failure_in(status: int, body: Raw) -> Failure:
    """What an HTTP answer says went wrong."""
    error = lenient(body, NativeError, NativeError())
    if not error.data.message:
        error = NativeError(error.name, native.ErrorData(f"the agent's server answered with status {status}"))
    failure = failure_of(error)
    code = "connection_failed" if status == 0 else failure.code
    return structs.replace(failure, code=code, details={"name": error.name, "status": status})


def is_user_message(body: Raw) -> bool:
    answered = lenient(body, native.Listed, None)
    return answered is not None and isinstance(answered.info, native.UserMessage)


def catalogue_of(
    agents: Iterable[native.AgentInfo], providers: native.Providers, config: native.Config
) -> Catalogue:
    modes = [one for one in agents if one.mode != "subagent" and not one.hidden]
    models = [
        Model(f"{provider.id}/{key}", model.name, tuple(model.variants) or None)
        for provider in providers.providers
        for key, model in provider.models.items()
    ]
    first = next((one.id for one in providers.providers if one.id in providers.default), None)
    default = config.model or (f"{first}/{providers.default[first]}" if first else None)
    return Catalogue(
        tuple(models),
        tuple(Mode(one.name, one.name.replace("-", " ").capitalize(), one.description) for one in modes),
        default,
    )
