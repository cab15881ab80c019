"""Commands between nodes: rows that are written without waiting for the disk, and notifications about them."""

from __future__ import annotations

from ..shared import Command, CommandState
from .files import Files
from .reader import known


class Commands(Files):
    _schema: str

    def post_command(
        self, owner: int, session_id: str | None, operation: str, request: bytes, seconds: float
    ) -> int:
        [(id, _)] = self._once(
            "WITH posted AS (INSERT INTO commands (owner, asked_by, session_id, operation, request, expires_at) "
            "VALUES (%(owner)s, %(me)s, %(session)s, %(operation)s, %(request)s, "
            "clock_timestamp() + make_interval(secs => %(seconds)s)) RETURNING id) "
            "SELECT id, pg_notify(%(channel)s, 'commands') FROM posted",
            owner=owner,
            me=self.life,
            session=known(session_id) if session_id is not None else None,
            operation=operation,
            request=request,
            seconds=seconds,
            channel=channel_of(self._schema, owner),
        )
        return int(id)

    def take_commands(self, seconds: float) -> list[Command]:
        rows = self._once(
            "UPDATE commands SET taken = true, expires_at = clock_timestamp() + make_interval(secs => %(seconds)s) "
            "WHERE owner = %(me)s AND NOT taken AND expires_at > clock_timestamp() "
            "RETURNING id, session_id, operation, request, asked_by",
            me=self.life,
            seconds=seconds,
        )
        return sorted((Command(*row) for row in rows), key=lambda command: command.id)

    def answer_command(self, id: int, status: int, answer: bytes) -> None:
        self._rows(
            "WITH answered AS (UPDATE commands SET status = %(status)s::int, answer = %(answer)s WHERE id = %(id)s "
            "RETURNING id, asked_by) SELECT pg_notify(concat(%(channel)s::text, asked_by), concat('answer ', id)) FROM answered",
            id=id,
            status=status,
            answer=answer,
            channel=f"{self._schema}_",
        )

    def answer_of(self, id: int) -> CommandState | None:
        rows = self._rows(
            "SELECT taken, NOT is_fenced(owner), expires_at < clock_timestamp(), status, coalesce(answer, '') "
            "FROM commands WHERE id = %(id)s",
            id=id,
        )
        return next((CommandState(*row) for row in rows), None)

    def withdraw_command(self, id: int) -> bool:
        rows = self._rows(
            "DELETE FROM commands WHERE id = %(id)s AND (NOT taken OR status IS NOT NULL) RETURNING taken",
            id=id,
        )
        return bool(rows) and not rows[0][0]

    def renew_command(self, id: int, seconds: float) -> None:
        self._rows(
            "UPDATE commands SET expires_at = clock_timestamp() + make_interval(secs => %(seconds)s) "
            "WHERE id = %(id)s RETURNING 1",
            id=id,
            seconds=seconds,
        )


def channel_of(schema: str, incarnation: int) -> str:
    """The channel on which a node is notified of commands and answers."""
    return f"{schema}_{incarnation}"
