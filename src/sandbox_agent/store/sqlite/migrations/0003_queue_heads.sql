-- What is known of a queued message without its prompt stands before the prompt, so that no page of it needs to be read.
CREATE TABLE queue_with_heads (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    fresh INTEGER NOT NULL,
    message BLOB NOT NULL,
    UNIQUE (session, turn_id)
);
INSERT INTO queue_with_heads
    SELECT
        ordinal,
        session,
        turn_id,
        json_extract(CAST(message AS TEXT), '$.created_at'),
        coalesce(json_extract(CAST(message AS TEXT), '$.fresh'), 0),
        message
    FROM queue;
DROP TABLE queue;
ALTER TABLE queue_with_heads RENAME TO queue;
