"""The commands for a daemon and its log: `server`, `daemon` and `log`, and their arguments."""

from __future__ import annotations

import argparse

from .operation_commands import add_flag
from .parser import Parser, Subparsers, add_command, add_data_dir, add_group, add_json
from .table import SETTINGS


def add_server(commands: Subparsers[Parser]) -> None:
    more = "Every flag is also a variable, e.g. SANDBOX_AGENT_PORT for --port. Flags take precedence."
    server = add_command(
        commands,
        "server",
        "Run the daemon in the foreground.",
        "server:server",
        more=more,
        examples="sandbox-agent server --token-file token\nsandbox-agent server --no-token --port 0",
        client=False,
    )
    _add_settings(server)


def _add_settings(parser: Parser) -> None:
    # An option given before the command, such as --data-dir, is not overwritten by its absence after it.
    parser.argument_default = argparse.SUPPRESS
    for setting in SETTINGS:
        add_flag(parser, setting)


# -- daemon -------------------------------------------------------------------------------------


def add_daemon(commands: Subparsers[Parser]) -> None:
    daemon = add_group(commands, "daemon", "Manage a daemon in the background.")
    start = add_command(
        daemon,
        "daemon start",
        "Start a daemon and wait until it is ready.",
        "daemon_command:start",
        more="Accepts the flags of `server`. Generates a token unless a flag sets one.",
        examples="sandbox-agent daemon start\nsandbox-agent daemon start --port 0 --json",
        client=False,
    )
    restart = add_command(
        daemon,
        "daemon restart",
        "Restart the daemon with the same address, token and flags.",
        "daemon_command:restart",
        more="Accepts the flags of `server`; they replace those it was started with.",
        examples="sandbox-agent daemon restart",
        client=False,
    )
    stop = add_command(
        daemon,
        "daemon stop",
        "Stop the daemon and wait until it has exited.",
        "daemon_command:stop",
        client=False,
    )
    status = add_command(
        daemon,
        "daemon status",
        "Show whether a daemon is running, and its address.",
        "daemon_command:status",
        client=False,
    )
    logs = _add_logs(daemon)
    for parser in (start, restart):
        _add_settings(parser)
    for parser in (start, restart, stop, status):
        add_json(parser)
    for parser in (stop, status, logs):
        add_data_dir(parser)


def _add_logs(daemon: Subparsers[Parser]) -> Parser:
    logs = add_command(
        daemon,
        "daemon logs",
        "Print the log of the last daemon started with `daemon start`.",
        "daemon_log:logs",
        examples="sandbox-agent daemon logs --lines 20\nsandbox-agent daemon logs --follow",
        client=False,
    )
    logs.add_argument(
        "-n",
        "--lines",
        type=int,
        default=100,
        metavar="N",
        help="Number of lines from the end (default 100; 0 prints all).",
    )
    logs.add_argument("-f", "--follow", action="store_true", help="Keep printing new lines until Ctrl-C.")
    return logs


# -- log ----------------------------------------------------------------------------------------


def add_log(commands: Subparsers[Parser]) -> None:
    log = add_group(commands, "log", "Manage the log of a daemon.")
    copy = add_command(
        log,
        "log copy",
        "Copy a log between SQLite and PostgreSQL, and verify the copy.",
        "log_copy:copy",
        more="A log is sqlite:PATH (a file or a data directory), postgresql://..., or @FILE, a file that contains one of them.\n"
        "No daemon may use either log. An interrupted copy continues where it stopped; until it is complete, no daemon\n"
        "starts on it. A target that holds anything but the beginning of the source is refused.",
        examples="sandbox-agent log copy sqlite:/srv/agent/log.db @database-url --secrets-key-file keys\n"
        "sandbox-agent log copy postgresql://agent@db.example/log?sslmode=verify-full sqlite:/srv/agent/log.db",
        client=False,
    )
    copy.add_argument("source", metavar="FROM", help="The log to copy.")
    copy.add_argument("target", metavar="TO", help="An empty log, or an unfinished copy.")
    copy.add_argument(
        "--data-dir",
        metavar="DIR",
        default=argparse.SUPPRESS,
        help="Data directory of the log in SQLite, with the files of its sessions (default: where the log is).",
    )
    copy.add_argument(
        "--node-name",
        metavar="NAME",
        help="Node to which sessions belong in PostgreSQL: the --node-name of the daemon (default: the host name).",
    )
    copy.add_argument(
        "--secrets-key-file", metavar="FILE", help="File with the keys that encrypt secrets in PostgreSQL."
    )
    add_json(copy)
    migrate = add_command(
        log,
        "log migrate",
        "Create or update the tables of a log in PostgreSQL.",
        "log_migrate:migrate",
        more="A daemon does this when it starts. Use the command if the daemon's role may not create tables: run it with the role\n"
        "that owns the schema.",
        examples="sandbox-agent log migrate @owner-url",
        client=False,
    )
    migrate.add_argument("log", metavar="LOG", help="postgresql://..., or @FILE, a file that contains it.")
