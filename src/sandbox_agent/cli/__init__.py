"""The command line: one command per operation, and a few that do more than one call. Starts without the daemon's code."""
