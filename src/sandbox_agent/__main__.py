"""`python -m sandbox_agent` and the `sandbox-agent` command."""

from __future__ import annotations

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C during the imports ends the program without a traceback. `main` changes this back.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from .cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
