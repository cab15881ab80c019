"""Sealing: a database has replicas, backups and archives, so what no one else may read is encrypted before it is sent there.

AES-256-GCM with a fresh nonce. The session's id is authenticated along with it, so that one session's secrets cannot be given to
another. A version and four bytes that identify the key come first.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ...errors import InvalidRequest, Unavailable
from ..base import Secrets

KEY_BYTES = 32
_VERSION = b"\x01"
_NAME_BYTES = 4
_NONCE_BYTES = 12

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Secrets).decode


class Seal:
    """The keys of a file, one per line: the first seals, all of them open."""

    def __init__(self, keys: list[bytes]) -> None:
        self._keys = {_name(key): AESGCM(key) for key in keys}
        self._first = next(iter(self._keys), None)

    @property
    def is_there(self) -> bool:
        return self._first is not None

    def close(self, session_id: str, secrets: Secrets) -> bytes | None:
        """None if there is nothing to keep."""
        if secrets == Secrets():
            return None
        if self._first is None:
            raise ValueError("secrets cannot be stored without --secrets-key-file")
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._keys[self._first].encrypt(nonce, _encode(secrets), session_id.encode())
        return _VERSION + self._first + nonce + sealed

    def open(self, session_id: str, sealed: bytes | None) -> Secrets:
        if sealed is None:
            return Secrets()
        name, rest = sealed[1 : 1 + _NAME_BYTES], sealed[1 + _NAME_BYTES :]
        key = self._keys.get(name) if sealed[:1] == _VERSION else None
        try:
            if key is not None:
                return _decode(key.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], session_id.encode()))
        except InvalidTag:
            pass
        raise Unavailable(
            f"the secrets of session {session_id} cannot be opened: no key in --secrets-key-file matches",
            sessionId=session_id,
        )


def read_keys(path: str | None) -> Seal:
    if path is None:
        return Seal([])
    try:
        lines = Path(path).expanduser().read_text().split()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"--secrets-key-file {path} cannot be read: {error}") from None
    keys = [_key(line, number, path) for number, line in enumerate(lines, 1)]
    if not keys:
        raise InvalidRequest(
            f"--secrets-key-file {path} is empty: write a key with `openssl rand -base64 32`"
        )
    return Seal(keys)


def _key(text: str, number: int, path: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_BYTES:
        raise InvalidRequest(
            f"--secrets-key-file {path}: key {number} is not {KEY_BYTES} bytes in base64, "
            "as `openssl rand -base64 32` prints them"
        )
    return key


def _name(key: bytes) -> bytes:
    return hashlib.sha256(b"name of " + key).digest()[:_NAME_BYTES]
