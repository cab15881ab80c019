"""Doors: other protocols in front of the same sessions. Each translates its clients' requests into operations, and events back."""
