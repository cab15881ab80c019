"""Builds requests to an OpenCode server and reads its answers."""

from __future__ import annotations

import mimetypes
from datetime import datetime
from urllib.parse import quote, unquote, urlsplit

from msgspec import Raw, structs

from ...schema.inputs import Attachment, McpServer, Prompt, Settings
from ...schema.world import World
from ..failures import Failure
from . import bodies
from .errors import failure_of
from .messages import ErrorData, NativeError, UserMessage, lenient


def scope(directory: str) -> str:
    return f"?directory={quote(directory, safe='/')}"


def make_message_id(world: World) -> str:
    """An id that sorts by time among the server's own: the low 48 bits of the time, then random digits."""
    milliseconds = round(datetime.fromisoformat(world.now()).timestamp() * 1000)
    ticks = milliseconds * 0x1000 & 0xFFFF_FFFF_FFFF
    return f"msg_{ticks:012x}{world.make_uuid().replace('-', '')[:14]}"


def prompt_parts(prompt: Prompt) -> tuple[bodies.TextInput | bodies.FileInput, ...]:
    """The text, and each file by its path: the server embeds text files and encodes images itself."""
    text = (bodies.TextInput(prompt.text),) if prompt.text else ()
    return (
        *text,
        *(
            bodies.FileInput(
                f"file://{quote(file.path)}",
                _mime(file.path, file.mime),
                file.filename or file.path.rpartition("/")[2],
            )
            for file in prompt.attachments
        ),
    )


def _mime(path: str, declared: str | None) -> str:
    mime = declared or mimetypes.guess_type(path)[0] or ""
    # Whatever else it is, the agent's model reads it as text.
    return mime if mime.startswith("image/") or mime == "application/pdf" else "text/plain"


def attachment_of(url: str, mime: str | None, filename: str | None) -> Attachment:
    """A file part as the attachment it was: a path, or the given name for data."""
    if url.startswith("file:"):
        return Attachment(unquote(urlsplit(url).path), mime, filename)
    return Attachment(filename or url.partition(",")[0], mime, filename)


def agent_of(settings: Settings) -> str:
    """OpenCode's name for the agent to use: only the one that plans asks for approval of a plan."""
    plans = settings.permission_mode == "plan" and settings.agent_mode == "build"
    return "plan" if plans else settings.agent_mode


def prompt_model(settings: Settings) -> bodies.PromptModel | None:
    if settings.model is None:
        return None
    provider, _, model = settings.model.partition("/")
    return bodies.PromptModel(provider, model or provider)


def session_model(settings: Settings) -> bodies.SessionModel | None:
    model = prompt_model(settings)
    return None if model is None else bodies.SessionModel(model.modelID, model.providerID, settings.variant)


def mcp_config(server: McpServer) -> dict[str, object]:
    timeout = {} if server.timeout_ms is None else {"timeout": server.timeout_ms}
    if server.url is not None:
        return {"type": "remote", "url": server.url, "headers": server.headers, "enabled": True, **timeout}
    command = [server.command or "", *server.args]
    return {"type": "local", "command": command, "environment": server.env, "enabled": True, **timeout}


def failure_in(status: int, body: Raw) -> Failure:
    """The failure in an HTTP answer."""
    error = lenient(body, NativeError, NativeError())
    if not error.data.message:
        error = NativeError(error.name, ErrorData(f"the agent's server answered with status {status}"))
    failure = failure_of(error)
    code = "connection_failed" if status == 0 else failure.code
    return structs.replace(failure, code=code, details={"name": error.name, "status": status})


def is_user_message(body: Raw) -> bool:
    answered = lenient(body, bodies.Listed, None)
    return answered is not None and isinstance(answered.info, UserMessage)
