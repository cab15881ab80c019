"""HTTP: bytes to an operation and back. Knows no session and no agent."""
