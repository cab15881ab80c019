"""Commands that are not operations of the API, and need several calls."""

from __future__ import annotations

from .operation_commands import DIRECTORY, add_mcp, add_sources
from .parser import Parser, Subparsers, add_command, add_group, add_json, number
from .table import AGENTS, COMMANDS

AGENT_NAMES = tuple(name for name, _ in AGENTS)
PERMISSION_MODES = next(
    argument.choices
    for command in COMMANDS
    for argument in command.arguments
    if argument.name == "permission_mode"
)


# -- cp -----------------------------------------------------------------------------------------


def add_copy(commands: Subparsers[Parser]) -> None:
    copy = add_command(
        commands,
        "cp",
        "Copy files and directories to or from the daemon's machine.",
        "copy:copy",
        more="One of the two paths is on the daemon's machine: SESSION:PATH, relative to that session's directory,\n"
        "or :PATH (also remote:PATH), relative to the home of the daemon's user. Directories are copied recursively.",
        examples="sandbox-agent cp report.pdf :/srv/project/\nsandbox-agent cp src demo:src\n"
        "sandbox-agent cp :/srv/project/out.log .\nsandbox-agent cp demo:dist dist",
    )
    copy.add_argument("source", metavar="FROM", help="Path to copy.")
    copy.add_argument("target", metavar="TO", help="Target; a directory receives the copy inside it.")


# -- run ----------------------------------------------------------------------------------------


def add_run(commands: Subparsers[Parser]) -> None:
    run = add_command(
        commands,
        "run",
        "Send one prompt to an agent and show what it does.",
        "run:run",
        more="Uses the running daemon, or starts one that stops with the command. On a terminal, `run` asks you for permissions and"
        "\nanswers; elsewhere it rejects them. In a pipe, the agent's answer goes to stdout and everything else to stderr."
        "\nThe agent's own variables, such as its keys, are sent from your shell to your own daemon on this machine.",
        examples='sandbox-agent run claude "Explain this folder"\n'
        'sandbox-agent run claude --continue "Now fix it"\n'
        "git diff | sandbox-agent run codex -\n"
        'sandbox-agent run mock --session demo --timeout 10m "permission hello"',
    )
    run.add_argument("agent", metavar="AGENT", help=f"Agent to run: {', '.join(AGENT_NAMES)}.")
    run.add_argument(
        "prompt", metavar="PROMPT", nargs="?", help="The prompt; `-` or no prompt reads it from stdin."
    )
    _add_session_choice(run)
    _add_session_settings(run)
    run.add_argument(
        "--timeout", metavar="TIME", help="Cancel the turn and fail after this time: 90, 90s, 10m, 2h."
    )
    run.add_argument(
        "--max-cost-usd",
        type=number,
        metavar="USD",
        help="End the turn when the session has cost this much, as the agent reports it.",
    )
    _add_new_session_settings(run)
    run.add_argument(
        "--attach",
        dest="attachments",
        action="append",
        metavar="PATH",
        help="File to send with the prompt; repeatable.",
    )
    run.add_argument(
        "--keep",
        action="store_true",
        help="Keep the agent's process running. By default it is stopped, and the next message resumes it.",
    )


def _add_session_choice(run: Parser) -> None:
    which = run.add_mutually_exclusive_group()
    which.add_argument(
        "--session", metavar="ID", help="Continue this session; it is created if it does not exist."
    )
    which.add_argument(
        "--continue",
        dest="latest",
        action="store_true",
        help="Continue the agent's latest session in this directory.",
    )


def _add_session_settings(run: Parser) -> None:
    run.add_argument("--title", metavar="TITLE", help="Title of the session.")
    run.add_argument("--directory", metavar="DIR", help=DIRECTORY)
    run.add_argument(
        "--agent-version",
        metavar="VERSION",
        help="Version of the agent; installed if it is missing.",
    )
    run.add_argument("--agent-mode", metavar="MODE", help="Mode of the agent, e.g. `build` or `plan`.")
    run.add_argument(
        "--permission-mode", choices=PERMISSION_MODES, help="When the agent asks for permission."
    )
    run.add_argument("--model", metavar="MODEL", help="Model to use.")
    run.add_argument("--variant", metavar="VARIANT", help="Variant of the model, e.g. its reasoning effort.")


def _add_new_session_settings(run: Parser) -> None:
    run.add_argument(
        "--env",
        action="append",
        metavar="KEY[=VALUE]",
        help="Variable for the agent of a new session. Without `=VALUE`, the value comes from your environment; repeatable.",
    )
    run.add_argument(
        "--send-env",
        action="store_true",
        help="Send the agent's own variables even to a daemon of another user or on another machine.",
    )
    add_mcp(run, "MCP servers for a new session.")
    add_sources(run, "Skills for a new session.")


# -- acp ----------------------------------------------------------------------------------------


def add_acp(commands: Subparsers[Parser]) -> None:
    acp = add_command(
        commands,
        "acp",
        "Serve an agent to an editor: the Agent Client Protocol on stdin and stdout.",
        "acp:acp",
        more="Uses the running daemon, or starts one in the background. Sessions belong to the daemon: a turn continues when the"
        "\neditor is closed, and the editor can load the session again.",
        examples="sandbox-agent acp --agent claude\nsandbox-agent acp --agent codex --session demo",
    )
    acp.add_argument(
        "--agent", required=True, metavar="AGENT", help=f"Agent for new sessions: {', '.join(AGENT_NAMES)}."
    )
    acp.add_argument(
        "--session",
        metavar="ID",
        help="Session that the editor's new session opens; it is created if it does not exist.",
    )


# -- mcp ----------------------------------------------------------------------------------------


def add_mcp_server(commands: Subparsers[Parser]) -> None:
    mcp = add_command(
        commands,
        "mcp",
        "Serve all agents to an MCP client: the Model Context Protocol on stdin and stdout.",
        "mcp:mcp",
        more="Uses the running daemon, or starts one in the background. Its tools run prompts in sessions, which belong to the"
        "\ndaemon. As an MCP server of a session, it lets the session's agent start other sessions within its own limits.",
        examples="sandbox-agent mcp\nsandbox-agent mcp --agent claude",
    )
    mcp.add_argument(
        "--agent", metavar="AGENT", help="Agent for new sessions, unless a tool call names another."
    )


# -- gigacode -----------------------------------------------------------------------------------


def add_gigacode(commands: Subparsers[Parser]) -> None:
    gigacode = add_command(
        commands,
        "gigacode",
        "Use an agent in the terminal interface of OpenCode.",
        "gigacode:gigacode",
        more="Uses the running daemon, or starts one in the background, which keeps running when you leave the interface.\n"
        "`opencode` and the agent are installed if they are missing. The command `gigacode` is the same.",
        examples="sandbox-agent gigacode\nsandbox-agent gigacode --agent codex src\n"
        "sandbox-agent gigacode --continue",
    )
    gigacode.add_argument("directory", metavar="DIR", nargs="?", help="Directory to work in (default: here).")
    gigacode.add_argument(
        "--agent", metavar="AGENT", default="claude", help=f"Agent to begin with: {', '.join(AGENT_NAMES)}."
    )
    which = gigacode.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help="Open this session.")
    which.add_argument(
        "--continue", dest="latest", action="store_true", help="Open the latest session of the directory."
    )


# -- exec ---------------------------------------------------------------------------------------


def add_exec(commands: Subparsers[Parser]) -> None:
    execute = add_command(
        commands,
        "exec",
        "Run a command on the daemon's machine.",
        "exec:execute",
        more="Everything after `--` is the command. It ends when `exec` ends, and `exec` returns its exit code; after a signal, 128"
        "\nplus the signal's number; 127 if there is no such program, and 126 if it cannot be run.",
        examples="sandbox-agent exec -- ls -l /srv\nsandbox-agent exec -it -- bash\n"
        "tar c src | sandbox-agent exec -i --cwd /srv -- tar x",
    )
    execute.add_argument("words", nargs="*", metavar="-- COMMAND", help="Program to run, with its arguments.")
    execute.add_argument("-i", "--interactive", action="store_true", help="Send stdin to the command.")
    execute.add_argument("-t", "--tty", action="store_true", help="Run the command in this terminal.")
    execute.add_argument("--cwd", metavar="DIR", help="Working directory (default: the daemon's).")
    execute.add_argument(
        "--env",
        action="append",
        metavar="KEY[=VALUE]",
        help="Variable for the command. Without `=VALUE`, the value comes from your environment; repeatable.",
    )


# -- sessions -----------------------------------------------------------------------------------


def add_to_sessions(sessions: Subparsers[Parser]) -> None:
    _add_show(sessions)
    _add_export(sessions)
    _add_prune(sessions)


def _add_show(sessions: Subparsers[Parser]) -> None:
    show = add_command(
        sessions,
        "sessions show",
        "Print the transcript of a session.",
        "history:show",
        examples="sandbox-agent sessions show demo | less\nsandbox-agent sessions show demo --follow",
    )
    show.add_argument("session_id", metavar="SESSION_ID", help="Id of the session.")
    show.add_argument(
        "-f",
        "--follow",
        action="store_true",
        help="Keep printing new events until the session ends or Ctrl-C.",
    )


def _add_export(sessions: Subparsers[Parser]) -> None:
    export = add_command(
        sessions,
        "sessions export",
        "Write all events of a session as JSON lines.",
        "archive:export",
        examples="sandbox-agent sessions export demo --output demo.jsonl --include-raw",
    )
    export.add_argument("session_id", metavar="SESSION_ID", help="Id of the session.")
    export.add_argument("--output", metavar="FILE", help="Write to a file instead of stdout.")
    export.add_argument(
        "--include-raw", action="store_true", help="Include the native payload of each event."
    )


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
    which.add_argument(
        "--older-than", metavar="AGE", help="Delete sessions without changes for this long: 12h, 30d, 8w."
    )
    which.add_argument(
        "--max-size",
        "--keep-bytes",
        metavar="SIZE",
        help="Delete the oldest sessions until the log is about this size: 1000000, 500M, 2G.",
    )
    prune.add_argument("--dry-run", action="store_true", help="List the sessions without deleting them.")
    prune.add_argument("--yes", action="store_true", help="Do not ask for confirmation.")


# -- tools --------------------------------------------------------------------------------------


def add_tools(commands: Subparsers[Parser]) -> None:
    _add_install(commands)
    _add_install_desktop(commands)
    _add_credentials(commands)
    more = "Exits with 1 if something is broken, not for warnings."
    add_command(
        commands,
        "doctor",
        "Check this machine for problems and say how to fix them.",
        "doctor:doctor",
        more=more,
    )
    _add_completion(commands)
    _add_translate(commands)


def _add_install(commands: Subparsers[Parser]) -> None:
    install = add_command(
        commands,
        "install-agent",
        "Install an agent or all agents.",
        "install:install",
        more="Installs into the data directory, from the publisher, the npm registry or a mirror (docs/install.mdx)."
        "\nWith --endpoint, that daemon installs it on its own machine.",
        examples="sandbox-agent install-agent claude\nsandbox-agent install-agent all\n"
        "sandbox-agent install-agent codex --version latest\n"
        "sandbox-agent install-agent claude --version 2.1.325 --from /mnt/mirror",
    )
    install.add_argument("agent", metavar="AGENT", help=f"{', '.join(AGENT_NAMES)}, or `all`.")
    install.add_argument("--reinstall", action="store_true", help="Install again even if it is installed.")
    install.add_argument(
        "--version",
        "--agent-version",
        dest="agent_version",
        metavar="VERSION",
        help="Version to install, or `latest`. Default: the installed version, or the tested one if none is installed.",
    )
    install.add_argument(
        "--from",
        dest="mirror",
        metavar="DIR|URL",
        help="Mirror to download from, instead of all other sources. Default: SANDBOX_AGENT_MIRROR.",
    )


def _add_install_desktop(commands: Subparsers[Parser]) -> None:
    group = add_group(commands, "install", "Install what a part of sandbox-agent needs on this machine.")
    desktop = add_command(
        group,
        "install desktop",
        "Install the programs for the desktop: an X server, a window manager, ffmpeg and a VNC server.",
        "install_desktop:install_desktop",
        more="Uses apt, dnf or apk, with sudo unless you are root. Asks first, unless --yes is given.",
        examples="sandbox-agent install desktop --yes\nsandbox-agent install desktop --print-only",
        client=False,
    )
    desktop.add_argument("--yes", action="store_true", help="Do not ask for confirmation.")
    desktop.add_argument(
        "--print-only", action="store_true", help="Print the commands instead of running them."
    )
    add_json(desktop)


def _add_credentials(commands: Subparsers[Parser]) -> None:
    credentials = add_group(commands, "credentials", "Show the credentials that agents find on this machine.")
    extract = add_command(
        credentials,
        "credentials extract",
        "List credentials by agent, with source and expiry; values are masked.",
        "credentials:extract",
        client=False,
    )
    env = add_command(
        credentials,
        "credentials extract-env",
        "Print credentials as variables, one per line.",
        "credentials:extract_env",
        examples='eval "$(sandbox-agent credentials extract-env --export)"',
        client=False,
    )
    env.add_argument(
        "--export",
        action="store_true",
        help="Print `export` statements with unmasked values, for `eval` in a shell.",
    )
    for parser in (extract, env):
        parser.add_argument("--agent", metavar="AGENT", help="Only this agent.")
        parser.add_argument("--reveal", action="store_true", help="Show values unmasked.")
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
    translate.add_argument(
        "agent", metavar="AGENT", help=f"Agent that was recorded: {', '.join(AGENT_NAMES)}."
    )
    translate.add_argument(
        "file", metavar="FILE", help="The recording (docs/contributing/recordings.mdx); `-` reads stdin."
    )
    translate.add_argument(
        "--include-raw", action="store_true", help="Include the native payload of each event."
    )
