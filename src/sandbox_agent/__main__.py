"""`python -m sandbox_agent` and the `sandbox-agent` command."""

from __future__ import annotations

import sys

from .cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
