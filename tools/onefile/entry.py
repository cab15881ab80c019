"""The program inside the single file: `sandbox-agent`, and Python for the daemon's own small programs.

The daemon starts some of its parts as `python -I -S FILE` or `python -m MODULE`. In the single file, `sys.executable` is this program.
"""

from __future__ import annotations

import runpy
import sys

INTERPRETER_FLAGS = {"-I", "-S", "-P"}


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] not in {*INTERPRETER_FLAGS, "-m"}:
        from sandbox_agent.cli.main import main as command_line

        return command_line()
    while arguments[0] in INTERPRETER_FLAGS:
        del arguments[0]
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
