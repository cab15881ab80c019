-- What the readers of all sessions were told last of each, and that sessions are gone.
ALTER TABLE sessions ADD COLUMN news_position INTEGER;
ALTER TABLE sessions ADD COLUMN news BLOB;
CREATE UNIQUE INDEX sessions_by_news ON sessions (news_position) WHERE news_position IS NOT NULL;
CREATE TABLE tombstones (position INTEGER PRIMARY KEY, news BLOB NOT NULL);
