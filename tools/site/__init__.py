"""Writes and checks the documentation site in `docs/`."""
