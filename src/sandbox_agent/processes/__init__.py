"""Processes of the sandbox: programs behind guardians, what they say, and terminals. Knows no agent and no session."""
