"""Files of sessions, in parts that are small enough to hold one in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..shared import Fenced, FileKind, StoredFile
from .connection import Connection
from .nodes import Nodes
from .reader import encoded, known

_KINDS: dict[FileKind, str] = {"attachment": "a", "conversation": "c"}
_OF_FILE = "session = (SELECT ordinal FROM sessions WHERE session_id = %(session)s) AND kind = %(kind)s AND name = %(name)s"


class Files(Nodes):
    def put_file(
        self, session_id: str, kind: FileKind, name: str, parts: Iterable[bytes], *, first_part: int = 0
    ) -> bool:
        def stored(connection: Connection) -> bool:
            with connection.transaction():
                # The row is locked, so the session is not deleted in the meantime.
                row = connection.execute(
                    "SELECT s.ordinal, s.owner = %s AND NOT is_fenced(s.owner) FROM sessions s "
                    "WHERE s.session_id = %s AND s.record IS NOT NULL FOR KEY SHARE",
                    (self._life.incarnation if self._life else None, known(session_id)),
                ).fetchone()
                if row is None:
                    return False
                session, is_ours = row
                if kind == "conversation" and not is_ours:
                    raise Fenced(frozenset({session_id}))
                file = (session, _KINDS[kind], encoded(name))
                connection.execute(
                    "DELETE FROM files WHERE session = %s AND kind = %s AND name = %s AND part >= %s",
                    (*file, first_part),
                )
                for part, content in enumerate(parts, first_part):
                    connection.execute(
                        "INSERT INTO files VALUES (%s, %s, %s, %s, %s)", (*file, part, content)
                    )
            return True

        return self._pool.ask(stored, once=True)

    def get_file(self, session_id: str, kind: FileKind, name: str) -> Iterator[bytes]:
        part = 0
        while rows := self._rows(
            f"SELECT content FROM files WHERE {_OF_FILE} AND part = %(part)s",
            session=known(session_id),
            kind=_KINDS[kind],
            name=encoded(name),
            part=part,
        ):
            yield rows[0][0]
            part += 1

    def list_files(self, session_id: str, kind: FileKind) -> list[StoredFile]:
        rows = self._of_session(
            "SELECT name, sum(octet_length(content))::bigint FROM files",
            session_id,
            "AND kind = %(kind)s GROUP BY name ORDER BY name",
            kind=_KINDS[kind],
        )
        return [StoredFile(name.decode(), size) for name, size in rows]
