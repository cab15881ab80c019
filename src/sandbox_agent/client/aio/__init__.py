"""The asynchronous client. The waiting one in `blocking/` is written from these files by `make gen`."""
