-- What each turn has spent. It does not refer to a session, because it outlives it. Turns that ended earlier are not in it.
CREATE TABLE ledger (
    ordinal INTEGER PRIMARY KEY,
    ended_at TEXT NOT NULL,
    session_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    reasoning_tokens INTEGER,
    cost_usd REAL
);
CREATE INDEX ledger_by_time ON ledger (ended_at);
