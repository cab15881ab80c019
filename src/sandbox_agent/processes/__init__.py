"""Processes of the sandbox: programs behind guardians, their output, and terminals. Independent of agents and sessions."""
