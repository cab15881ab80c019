"""HTTP: from bytes to an operation and back. Independent of sessions and agents."""
