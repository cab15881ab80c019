"""Commands that are no operation of the API: the daemon's own, and those that take more than one call."""

from __future__ import annotations

from .operation_commands import DIRECTORY, add_flag, add_mcp
from .parser import Parser, Subparsers, add_command, add_data_dir, add_group, add_json
from .table import AGENTS, COMMANDS, SETTINGS

AGENT_NAMES = tuple(name for name, _ in AGENTS)
PERMISSION_MODES = next(
    argument.choices
    for command in COMMANDS
    for argument in command.arguments
    if argument.name == "permission_mode"
)


def add_server(commands: Subparsers[Parser]) -> None:
    more = "Every flag can be given as a variable too: SANDBOX_AGENT_PORT for --port. Flags win."
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
    for setting in SETTINGS:
        add_flag(parser, setting)


# -- cp -----------------------------------------------------------------------------------------


def add_copy(commands: Subparsers[Parser]) -> None:
    copy = add_command(
        commands,
        "cp",
        "Copy files and folders to the daemon's machine, or from it.",
        "copy:copy",
        more="One of the two paths is on the daemon's machine: SESSION:PATH, relative to that session's directory,\n"
        "or :PATH (also remote:PATH), relative to the home of the daemon's user. A folder is copied with all that is in it.",
        examples="sandbox-agent cp report.pdf :/srv/project/\nsandbox-agent cp src demo:src\n"
        "sandbox-agent cp :/srv/project/out.log .\nsandbox-agent cp demo:dist dist",
    )
    copy.add_argument("source", metavar="FROM", help="What to copy.")
    copy.add_argument("target", metavar="TO", help="Where to; into it where that is a folder.")


# -- run ----------------------------------------------------------------------------------------


def add_run(commands: Subparsers[Parser]) -> None:
    run = add_command(
        commands,
        "run",
        "Give an agent one prompt and show what it does.",
        "run:run",
        more="Uses the daemon that runs, or starts one for as long as it takes. On a terminal permissions and questions are asked;"
        "\nelsewhere they are rejected, the answer goes to stdout and everything else to stderr."
        "\nThe agent's own variables, its keys among them, go from this shell to your own daemon on this machine.",
        examples='sandbox-agent run claude "Explain this folder"\n'
        'sandbox-agent run claude --continue "Now fix it"\n'
        "git diff | sandbox-agent run codex -\n"
        'sandbox-agent run mock --session demo --timeout 10m "permission hello"',
    )
    run.add_argument("agent", metavar="AGENT", help=f"Which agent: {', '.join(AGENT_NAMES)}.")
    run.add_argument(
        "prompt", metavar="PROMPT", nargs="?", help="What to say; `-` or nothing reads it from stdin."
    )
    which = run.add_mutually_exclusive_group()
    which.add_argument(
        "--session", metavar="ID", help="Go on with this session; it is created if it does not exist."
    )
    which.add_argument(
        "--continue",
        dest="latest",
        action="store_true",
        help="Go on with the agent's latest session in this directory.",
    )
    run.add_argument("--title", metavar="TITLE", help="A name for the session.")
    run.add_argument("--directory", metavar="DIR", help=DIRECTORY)
    run.add_argument(
        "--agent-version",
        metavar="VERSION",
        help="Which version of the agent; it is installed if it is missing.",
    )
    run.add_argument("--agent-mode", metavar="MODE", help="What it does, e.g. `build` or `plan`.")
    run.add_argument("--permission-mode", choices=PERMISSION_MODES, help="What it may do.")
    run.add_argument("--model", metavar="MODEL", help="The model behind it.")
    run.add_argument(
        "--variant", metavar="VARIANT", help="A variant of the model, e.g. its reasoning effort."
    )
    run.add_argument(
        "--timeout", metavar="TIME", help="Cancel the turn after this long, and fail: 90, 90s, 10m, 2h."
    )
    run.add_argument(
        "--env",
        action="append",
        metavar="KEY[=VALUE]",
        help="A variable for a new session's agent. Without `=VALUE` the value comes from this shell; repeatable.",
    )
    run.add_argument(
        "--send-env",
        action="store_true",
        help="Send the agent's own variables also to a daemon that is not yours or not on this machine.",
    )
    add_mcp(run, "MCP servers for a new session.")
    run.add_argument(
        "--attach",
        dest="attachments",
        action="append",
        metavar="PATH",
        help="File that goes with it; repeatable.",
    )
    run.add_argument(
        "--keep",
        action="store_true",
        help="Leave the agent's process running on the daemon. By default it is stopped, and the next message resumes it.",
    )


# -- exec ---------------------------------------------------------------------------------------


def add_exec(commands: Subparsers[Parser]) -> None:
    execute = add_command(
        commands,
        "exec",
        "Run a command where the daemon runs.",
        "exec:execute",
        more="Everything after `--` is the command. It ends with this one, and its exit code is this one's; after a signal that is 128"
        "\nand the signal's number.",
        examples="sandbox-agent exec -- ls -l /srv\nsandbox-agent exec -it -- bash\n"
        "tar c src | sandbox-agent exec -i --cwd /srv -- tar x",
    )
    execute.add_argument("words", nargs="*", metavar="-- COMMAND", help="The program and its arguments.")
    execute.add_argument("-i", "--interactive", action="store_true", help="Send it what comes on stdin.")
    execute.add_argument("-t", "--tty", action="store_true", help="Run it on a terminal, which is this one.")
    execute.add_argument("--cwd", metavar="DIR", help="Where it runs. Default: the daemon's own folder.")
    execute.add_argument(
        "--env",
        action="append",
        metavar="KEY[=VALUE]",
        help="A variable for it. Without `=VALUE` the value comes from this shell; repeatable.",
    )


# -- daemon -------------------------------------------------------------------------------------


def add_daemon(commands: Subparsers[Parser]) -> None:
    daemon = add_group(commands, "daemon", "A daemon in the background, which the other commands find.")
    start = add_command(
        daemon,
        "daemon start",
        "Start it and wait until it is ready.",
        "daemon_command:start",
        more="Takes the flags of `server`. Without one about a token, it makes one.",
        examples="sandbox-agent daemon start\nsandbox-agent daemon start --port 0 --json",
        client=False,
    )
    restart = add_command(
        daemon,
        "daemon restart",
        "Stop it and start it again, at the same address and with the same token and flags.",
        "daemon_command:restart",
        more="Takes the flags of `server`, which replace those it was started with.",
        examples="sandbox-agent daemon restart",
        client=False,
    )
    stop = add_command(
        daemon, "daemon stop", "Stop it and wait until it is gone.", "daemon_command:stop", client=False
    )
    status = add_command(
        daemon, "daemon status", "Say whether it runs, and where.", "daemon_command:status", client=False
    )
    logs = add_command(
        daemon,
        "daemon logs",
        "Print the log of the daemon that `daemon start` started last.",
        "daemon_log:logs",
        examples="sandbox-agent daemon logs --lines 20\nsandbox-agent daemon logs --follow",
        client=False,
    )
    logs.add_argument(
        "--lines", type=int, default=100, metavar="N", help="Only the last lines. Default: 100; 0 for all."
    )
    logs.add_argument("--follow", action="store_true", help="Go on with what is written, until Ctrl-C.")
    for parser in (start, restart):
        _add_settings(parser)
    for parser in (start, restart, stop, status):
        add_json(parser)
    for parser in (stop, status, logs):
        add_data_dir(parser)


# -- sessions -----------------------------------------------------------------------------------


def add_to_sessions(sessions: Subparsers[Parser]) -> None:
    _add_show(sessions)
    _add_export(sessions)
    _add_prune(sessions)


def _add_show(sessions: Subparsers[Parser]) -> None:
    show = add_command(
        sessions,
        "sessions show",
        "Show what happened in a session, as `run` would have shown it.",
        "history:show",
        examples="sandbox-agent sessions show demo | less\nsandbox-agent sessions show demo --follow",
    )
    show.add_argument("session_id", metavar="SESSION_ID", help="Which session.")
    show.add_argument(
        "--follow", action="store_true", help="Go on with what happens, until the session ends or Ctrl-C."
    )


def _add_export(sessions: Subparsers[Parser]) -> None:
    export = add_command(
        sessions,
        "sessions export",
        "Write all events of a session as JSON lines.",
        "archive:export",
        examples="sandbox-agent sessions export demo --output demo.jsonl --include-raw",
    )
    export.add_argument("session_id", metavar="SESSION_ID", help="Which session.")
    export.add_argument("--output", metavar="FILE", help="Write to a file instead of stdout.")
    export.add_argument("--include-raw", action="store_true", help="With the native payload of each event.")


def _add_prune(sessions: Subparsers[Parser]) -> None:
    prune = add_command(
        sessions,
        "sessions prune",
        "Delete old sessions that are idle or ended.",
        "archive:prune",
        examples="sandbox-agent sessions prune --older-than 30d --dry-run\n"
        "sandbox-agent sessions prune --max-size 500M --yes",
    )
    which = prune.add_mutually_exclusive_group(required=True)
    which.add_argument("--older-than", metavar="AGE", help="Not touched for this long: 12h, 30d, 8w.")
    which.add_argument(
        "--max-size",
        "--keep-bytes",
        metavar="SIZE",
        help="The oldest, until the log is about this small: 1000000, 500M, 2G.",
    )
    prune.add_argument("--dry-run", action="store_true", help="Only show what would be deleted.")
    prune.add_argument("--yes", action="store_true", help="Do not ask.")


# -- tools --------------------------------------------------------------------------------------


def add_tools(commands: Subparsers[Parser]) -> None:
    _add_install(commands)
    _add_credentials(commands)
    more = "Exit code 1 when something is broken; a warning is not."
    add_command(
        commands, "doctor", "Look for problems and say what to do about them.", "doctor:doctor", more=more
    )
    _add_completion(commands)
    _add_translate(commands)


def _add_install(commands: Subparsers[Parser]) -> None:
    install = add_command(
        commands,
        "install-agent",
        "Install an agent, or all of them.",
        "install:install",
        more="Into the data directory of this machine, from the publisher, from npm's registry or from a mirror (docs/install.md)."
        "\nA daemon that is named with --endpoint installs it on its own machine instead.",
        examples="sandbox-agent install-agent claude\nsandbox-agent install-agent all\n"
        "sandbox-agent install-agent codex --version latest\n"
        "sandbox-agent install-agent claude --version 2.1.325 --from /mnt/mirror",
    )
    install.add_argument("agent", metavar="AGENT", help=f"{', '.join(AGENT_NAMES)}, or `all`.")
    install.add_argument("--reinstall", action="store_true", help="Install again even if it is there.")
    install.add_argument(
        "--version",
        "--agent-version",
        dest="agent_version",
        metavar="VERSION",
        help="Which version, or `latest`. Default: the one that is there, or the tested one.",
    )
    install.add_argument(
        "--from",
        dest="mirror",
        metavar="DIR|URL",
        help="A mirror to fetch from, and from nowhere else. Default: SANDBOX_AGENT_MIRROR.",
    )


def _add_credentials(commands: Subparsers[Parser]) -> None:
    credentials = add_group(commands, "credentials", "Keys that agents would find on this machine.")
    extract = add_command(
        credentials,
        "credentials extract",
        "Show them per agent, hidden: where each was found and when it expires.",
        "credentials:extract",
        client=False,
    )
    env = add_command(
        credentials,
        "credentials extract-env",
        "Print them as variables, one per line.",
        "credentials:extract_env",
        examples='eval "$(sandbox-agent credentials extract-env --export)"',
        client=False,
    )
    env.add_argument(
        "--export",
        action="store_true",
        help="For a shell's eval: with `export` in front, and with the values.",
    )
    for parser in (extract, env):
        parser.add_argument("--agent", metavar="AGENT", help="Only this agent.")
        parser.add_argument("--reveal", action="store_true", help="Show the values instead of hiding them.")
        add_json(parser)


def _add_completion(commands: Subparsers[Parser]) -> None:
    completion = add_command(
        commands,
        "completion",
        "Print a completion script for a shell.",
        "completion:completion",
        examples="sandbox-agent completion bash > ~/.local/share/bash-completion/completions/sandbox-agent\n"
        'sandbox-agent completion zsh > "${fpath[1]}/_sandbox-agent"\n'
        "sandbox-agent completion fish > ~/.config/fish/completions/sandbox-agent.fish",
        client=False,
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))


def _add_translate(commands: Subparsers[Parser]) -> None:
    translate = add_command(
        commands,
        "translate",
        "Print a recording as universal events.",
        "translate:translate",
        examples="sandbox-agent translate claude native.jsonl | jq -c '[.type, .data]'",
        client=False,
    )
    translate.add_argument("agent", metavar="AGENT", help=f"Whose recording it is: {', '.join(AGENT_NAMES)}.")
    translate.add_argument(
        "file", metavar="FILE", help="The recording (docs/recordings.md); `-` reads stdin."
    )
    translate.add_argument(
        "--include-raw", action="store_true", help="With the native payload of each event."
    )
