"""The commands of `fleet`, and their arguments."""

from __future__ import annotations

from .parser import Parser, Subparsers, add_command, add_data_dir, add_group, add_json


def add_fleet(commands: Subparsers[Parser]) -> None:
    fleet = add_group(commands, "fleet", "Run sandboxes that share a log: on this machine, or as containers.")
    _add_fleet_serve(fleet)
    listed = add_command(fleet, "fleet list", "List sandboxes.", "fleet_command:list_sandboxes", client=False)
    start = add_command(
        fleet,
        "fleet start",
        "Start a sandbox.",
        "fleet_command:start",
        examples="sandbox-agent fleet start one --token-file token --database-url-file database-url",
        client=False,
    )
    stop = add_command(
        fleet, "fleet stop", "Stop a sandbox and keep its files.", "fleet_command:stop", client=False
    )
    remove = add_command(
        fleet,
        "fleet remove",
        "Stop a sandbox and delete its files.",
        "fleet_command:remove",
        more="Asks first. The sessions of the sandbox remain readable, but cannot be continued.",
        examples="sandbox-agent fleet remove one --yes",
        client=False,
    )
    remove.add_argument("--yes", action="store_true", help="Do not ask for confirmation.")
    for parser in (start, stop, remove):
        parser.add_argument("name", metavar="NAME", help="Name of the sandbox.")
    _add_secrets(start)
    for parser in (listed, start, stop, remove):
        _add_provider(parser)
    add_json(listed)


def _add_fleet_serve(fleet: Subparsers[Parser]) -> None:
    serve = add_command(
        fleet,
        "fleet serve",
        "Serve the API, and run a sandbox for every session that needs one.",
        "fleet_command:serve",
        more="Sandboxes start on demand, stop when they are idle, and are replaced when they die. They keep running when this command"
        "\nends, and are found again when it starts.",
        examples="sandbox-agent fleet serve --token-file token --database-url-file database-url\n"
        "sandbox-agent fleet serve --provider docker --docker-network db --token-file token --database-url-file database-url",
        client=False,
    )
    serve.add_argument("--host", default="127.0.0.1", metavar="HOST", help="Address to listen on.")
    serve.add_argument(
        "--port", type=int, default=2468, metavar="PORT", help="Port to listen on; 0 picks a free one."
    )
    serve.add_argument(
        "--allow-host",
        action="append",
        metavar="HOST",
        help="Host name to accept in addition to loopback addresses; repeatable.",
    )
    serve.add_argument(
        "--idle-seconds",
        type=float,
        default=900.0,
        metavar="SECONDS",
        help="Stop a sandbox in which nothing has happened for this long (default 900).",
    )
    serve.add_argument(
        "--max-sandboxes",
        type=int,
        default=20,
        metavar="N",
        help="Maximum number of sandboxes that run at once (default 20).",
    )
    _add_secrets(serve)
    _add_provider(serve)


def _add_secrets(parser: Parser) -> None:
    parser.add_argument("--token-file", metavar="FILE", help="File with the token of all sandboxes.")
    parser.add_argument("--database-url-file", metavar="FILE", help="File with the URL of the shared log.")
    parser.add_argument(
        "--secrets-key-file", metavar="FILE", help="File with the keys that encrypt secrets in the log."
    )
    parser.add_argument(
        "--server-flag",
        action="append",
        metavar="FLAG",
        help="Flag of `server` for every sandbox, e.g. --server-flag=--no-bypass; repeatable.",
    )


def _add_provider(parser: Parser) -> None:
    parser.add_argument(
        "--provider",
        choices=("local", "docker"),
        default="local",
        help="Where sandboxes run: processes of this user (default), or containers.",
    )
    parser.add_argument(
        "--fleet",
        default="fleet",
        metavar="NAME",
        help="Name of the fleet and of its gateway node (default `fleet`).",
    )
    parser.add_argument(
        "--image",
        default="sandbox-agent",
        metavar="IMAGE",
        help="Image of containers (default `sandbox-agent`).",
    )
    parser.add_argument(
        "--docker-socket",
        default="/var/run/docker.sock",
        metavar="PATH",
        help="Socket of the engine (default /var/run/docker.sock).",
    )
    parser.add_argument(
        "--docker-network",
        default="default",
        metavar="NETWORK",
        help="Network of containers, from which they reach the database.",
    )
    add_data_dir(parser)
