-- Where a session's files lie, so that a start can tell which folders are nobody's. Sessions of before have none.
ALTER TABLE sessions ADD COLUMN folder TEXT;
CREATE INDEX sessions_folder ON sessions (folder) WHERE folder IS NOT NULL;
