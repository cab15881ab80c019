"""The API of an OpenCode server under `/opencode`: OpenCode's own clients drive every agent here.

`transcript.py` translates our events into OpenCode's messages and events and has no I/O. Everything that a client can read is
derived from the log, so the same log always gives the same ids and messages, even after a restart.
"""
