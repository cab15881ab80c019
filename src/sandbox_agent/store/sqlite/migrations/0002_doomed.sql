-- Sessions that were deleted and whose events are still being removed, a few at a time.
CREATE TABLE doomed (session INTEGER PRIMARY KEY);
