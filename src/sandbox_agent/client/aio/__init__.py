"""The asynchronous client. `make gen` generates the blocking client in `blocking/` from these files."""
