"""The few calls to the Amp service that its command line makes apart from model calls."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct, field

USER: dict[str, Any] = {
    "id": "user_scripted",
    "email": "dev@example.test",
    "username": "dev",
    "firstName": "Dev",
    "lastName": None,
    "emailVerified": True,
    "siteAdmin": False,
    "features": [],
    "team": None,
    "createdAt": "2026-01-01T00:00:00.000Z",
    "updatedAt": "2026-01-01T00:00:00.000Z",
}


class Thread(Struct):
    id: str
    v: int


class Parameters(Struct):
    thread: Raw = Raw(b"null")  # an id when a thread is requested, the whole thread when it is stored


class ServiceCall(Struct):
    method: str = ""
    params: Parameters = field(default_factory=Parameters)


class AmpService:
    """Knows one user, and keeps the threads it is given."""

    def __init__(self) -> None:
        self.takes_threads = True
        """Amp uploads a thread a second after its last activity; unless this is set, that second never ends.
        """
        self._threads: dict[str, Raw] = {}

    def answer(self, body: bytes) -> dict[str, Any]:
        call = msgspec.json.decode(body or b"{}", type=ServiceCall)
        match call.method:
            case "getUserInfo":
                return _ok(USER)
            case "getUserFreeTierStatus":
                return _ok({"canUseAmpFree": False, "isDailyGrantEnabled": False})
            case "uploadThread" if not self.takes_threads:
                return {"ok": False, "error": {"code": "unavailable", "message": "Try again later"}}
            case "uploadThread":
                thread = msgspec.json.decode(call.params.thread, type=Thread)
                self._threads[thread.id] = call.params.thread.copy()
                return _ok({})
            case "getThread":
                return self._thread(msgspec.json.decode(call.params.thread, type=str))
        return _ok({})

    def stored(self, id: str) -> str:
        """A thread as it was last uploaded; empty if it was not."""
        return bytes(self._threads.get(id, b"")).decode()

    def _thread(self, id: str) -> dict[str, Any]:
        if id not in self._threads:
            return {"ok": False, "error": {"code": "thread-not-found", "message": "Thread not found"}}
        stored = self._threads[id]
        thread = msgspec.json.decode(stored, type=Thread)
        return _ok(
            {
                "thread": {
                    "id": id,
                    "version": thread.v,
                    "creatorUserID": USER["id"],
                    "data": stored,
                    "meta": None,
                }
            }
        )


def _ok(result: Any) -> dict[str, Any]:
    return {"ok": True, "result": result}
