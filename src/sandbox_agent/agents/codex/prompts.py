"""Converts a user's prompt to codex's form, and back."""

from __future__ import annotations

from ...schema.inputs import Attachment, Prompt
from ..files import mime_of
from ..scribe import Scribe
from .contents import image_of_data_url
from .frames import (
    AudioInput,
    ImageInput,
    LocalAudioInput,
    LocalImageInput,
    MentionInput,
    SkillInput,
    TextInput,
    UserInput,
)

ATTACHED = "Attached file: "


def input_of(prompt: Prompt) -> tuple[UserInput, ...]:
    parts: list[UserInput] = [TextInput(text=prompt.text)] if prompt.text else []
    for file in prompt.attachments:
        is_image = (mime_of(file) or "").startswith("image/")
        parts.append(
            LocalImageInput(path=file.path) if is_image else TextInput(text=f"{ATTACHED}{file.path}")
        )
    return tuple(parts)


def prompt_of(scribe: Scribe, content: tuple[UserInput, ...]) -> Prompt:
    """The inverse of `input_of`; other clients send more than we do."""
    texts: list[str] = []
    files: list[Attachment] = []
    for part in content:
        match part:
            case TextInput(text=text) if text.startswith(ATTACHED):
                files.append(Attachment(text.removeprefix(ATTACHED)))
            case TextInput(text=text):
                texts.append(text)
            case LocalImageInput(path=path) | LocalAudioInput(path=path):
                files.append(Attachment(path))
            case SkillInput(path=path, name=name) | MentionInput(path=path, name=name):
                files.append(Attachment(path, filename=name))
            case ImageInput(url=url, file_id=file_id):
                stored = image_of_data_url(scribe, url or "")
                files += [Attachment(image.path, image.mime) for image in stored]
                if not stored:
                    files.append(Attachment(url or file_id or "", "image/*"))
            case AudioInput():
                files.append(Attachment("audio", "audio/*"))
    return Prompt("\n".join(texts), tuple(files))
