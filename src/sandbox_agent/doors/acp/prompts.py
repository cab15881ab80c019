"""A client's prompt as a message: its text, and the files that come with it."""

from __future__ import annotations

import base64
import binascii
import posixpath
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct

from ...errors import InvalidRequest
from .frames import Block, Resource


class File(Struct, frozen=True):
    content: bytes
    filename: str
    mime: str | None


class ReadPrompt(Struct, frozen=True):
    text: str
    files: tuple[File, ...]

    @property
    def command(self) -> str | None:
        """The name of the command that the text may be."""
        name = self.text[1:].split(maxsplit=1)[:1] if self.text.startswith("/") else []
        return name[0] if name and self.text[1:2].strip() else None


def read_prompt(blocks: Iterable[Block]) -> ReadPrompt:
    texts: list[str] = []
    files: list[File] = []
    for block in blocks:
        match block:
            case Block(type="text", text=str(text)):
                texts.append(text)
            case Block(type="image", data=str(data), mime_type=mime):
                files.append(File(_bytes(data), _image_name(block, mime), mime))
            case Block(type="resource", resource=Resource() as resource):
                files.append(_embedded(resource))
            case Block(type="resource_link", uri=str(uri)):
                # The agent reads linked files with its own tools; a link may also be a folder.
                texts.append(f"[@{block.name or _name_of(uri)}]({_shown(uri)})")
            case _:
                raise InvalidRequest(
                    f"a prompt cannot have content of the type `{block.type}`", field="prompt"
                )
    return ReadPrompt(_joined(texts), tuple(files))


def _joined(texts: list[str]) -> str:
    """Editors split a sentence around a mention, so pieces that have no space between them get one."""
    text = ""
    for piece in texts:
        has_gap = not text or text[-1].isspace() or piece[:1].isspace()
        text += piece if has_gap else f" {piece}"
    return text


def _embedded(resource: Resource) -> File:
    name = _name_of(resource.uri)
    if resource.text is not None:
        return File(resource.text.encode(errors="surrogatepass"), name, resource.mime_type or "text/plain")
    if resource.blob is not None:
        return File(_bytes(resource.blob), name, resource.mime_type)
    raise InvalidRequest("an embedded resource needs `text` or `blob`", field="prompt")


def _bytes(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidRequest("the data is not base64", field="prompt") from None


def _image_name(block: Block, mime: str | None) -> str:
    if block.uri:
        return _name_of(block.uri)
    kind = (mime or "image/png").partition("/")[2].partition("+")[0]
    return f"image.{kind}"


def _name_of(uri: str) -> str:
    return posixpath.basename(unquote(_split(uri).path).rstrip("/")) or "resource"


def _shown(uri: str) -> str:
    parts = _split(uri)
    return unquote(parts.path) if parts.scheme == "file" and not parts.query else uri


def _split(uri: str) -> SplitResult:
    try:
        return urlsplit(uri)
    except ValueError:
        raise InvalidRequest("a `uri` in the prompt is not valid", field="prompt") from None
