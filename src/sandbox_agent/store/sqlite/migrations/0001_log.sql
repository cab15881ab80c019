-- The log and what stands beside it. Sessions are named by a number inside; positions are given by the daemon.
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE sessions (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL UNIQUE,
    active INTEGER NOT NULL,
    record BLOB NOT NULL,
    secrets BLOB
);
CREATE INDEX sessions_active ON sessions (ordinal) WHERE active;

CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    body BLOB NOT NULL,
    raw_sequence INTEGER,
    raw BLOB
);
CREATE UNIQUE INDEX events_by_session ON events (session, sequence);

CREATE TABLE queue (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    message BLOB NOT NULL,
    UNIQUE (session, turn_id)
);

CREATE TABLE pending (
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BLOB, -- null: answered
    PRIMARY KEY (session, id)
);
CREATE INDEX pending_unanswered ON pending (session) WHERE body IS NOT NULL;

CREATE TABLE keys (
    session INTEGER NOT NULL,
    key TEXT NOT NULL,
    digest BLOB NOT NULL,
    turn_id TEXT NOT NULL,
    PRIMARY KEY (session, key)
) WITHOUT ROWID;

CREATE TABLE calls (
    session INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    PRIMARY KEY (session, call_id)
) WITHOUT ROWID;
