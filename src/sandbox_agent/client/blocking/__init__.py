"""The waiting client, written by `make gen` from the files in `aio/`."""
