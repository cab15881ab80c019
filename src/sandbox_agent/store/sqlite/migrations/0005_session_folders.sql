-- Where a session's files lie, so that a start can tell which folders are nobody's. It was derived from the id before.
ALTER TABLE sessions ADD COLUMN folder TEXT;
UPDATE sessions SET
    folder = 'ses-' || session_id,
    record = CAST(json_set(CAST(record AS TEXT), '$.folder', 'ses-' || session_id) AS BLOB);
CREATE INDEX sessions_folder ON sessions (folder) WHERE folder IS NOT NULL;
