"""The parser and the way from a command line to its handler.

Commands for operations come from the generated `table.py`. A handler is named as text and imported when its command is
chosen, so that help and completion load neither the daemon nor an HTTP client.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence

from .command import Argument, Command
from .failures import INTERRUPTED, CommandFailed, WrongUsage
from .table import AGENTS, COMMANDS, SETTINGS

PROG = "sandbox-agent"
CLIENT_FLAGS = ("--endpoint", "--token", "--token-file", "--data-dir", "--json")
AGENT_NAMES = tuple(name for name, _ in AGENTS)
PERMISSION_MODES = next(
    argument.choices
    for command in COMMANDS
    for argument in command.arguments
    if argument.name == "permission_mode"
)

GROUPS = {
    "agents": "Agents: list, install, what they offer.",
    "sessions": "Sessions: create, talk, read, end.",
    "permissions": "Permissions that wait for an answer.",
    "questions": "Questions that wait for an answer.",
    "attachments": "Files that go with messages.",
    "events": "The events of all sessions.",
    "changes": "What a session has changed in its directory, and the way back.",
    "fs": "Files of the daemon's machine: list, read, write, search, watch.",
    "system": "Health and figures of the daemon.",
}

ROOT_EXAMPLES = """\
examples:
  sandbox-agent run claude "Fix the failing test"     one prompt, with a transcript on the terminal
  sandbox-agent daemon start                          a daemon in the background; other commands find it
  sandbox-agent sessions create demo --agent mock     a session on it
  sandbox-agent sessions stream-message demo --message "hello"
  sandbox-agent --token T --host 0.0.0.0 --port 2468  the same as `sandbox-agent server ...`

environment:
  SANDBOX_AGENT_ENDPOINT, SANDBOX_AGENT_TOKEN   the daemon to talk to
  SANDBOX_AGENT_DATA_DIR                        the state folder
  NO_COLOR                                      no colours

exit codes: 0 ok, 1 failed, 2 wrong usage, 130 interrupted"""

EXAMPLES = {
    "server": "sandbox-agent server --token-file token\nsandbox-agent server --no-token --port 0",
    "agents list": "sandbox-agent agents list\nsandbox-agent agents list --json | jq -r '.agents[].id'",
    "agents install": "sandbox-agent agents install codex",
    "agents models": "sandbox-agent agents models opencode --directory /srv/project",
    "sessions create": "sandbox-agent sessions create demo --agent claude --permission-mode acceptEdits\n"
    "sandbox-agent sessions create --agent mock --env DEBUG=1 --env API_KEY\n"
    "sandbox-agent sessions create docs --agent codex --mcp files='npx some-server /srv' --mcp web=https://host/mcp",
    "sessions send-message": 'sandbox-agent sessions send-message demo --message "hello"\n'
    "git diff | sandbox-agent sessions send-message demo --message - --attach screenshot.png",
    "sessions stream-message": 'sandbox-agent sessions stream-message demo --message "hello" | jq -r .type',
    "sessions events": "sandbox-agent sessions events demo --offset 3\nsandbox-agent sessions events demo | jq .type",
    "sessions events-sse": "sandbox-agent sessions events-sse demo",
    "sessions update": 'sandbox-agent sessions update demo --title "Release" --permission-mode plan',
    "permissions reply": "sandbox-agent permissions list demo\n"
    "sandbox-agent permissions reply demo perm_1 --reply once\n"
    'sandbox-agent permissions reply demo perm_1 --reply reject --message "use git mv"',
    "questions reply": "sandbox-agent questions list demo\n"
    "sandbox-agent questions reply demo q_1 --answer Red\n"
    'sandbox-agent questions reply demo q_2 --answer Small --answer "Cheese,Basil"\n'
    """sandbox-agent questions reply demo q_2 --answers '[["Small"],["one, with a comma"]]'""",
    "attachments upload": "sandbox-agent attachments upload demo screenshot.png",
    "attachments get": "path=$(sandbox-agent attachments upload demo screenshot.png | jq -r .path)\n"
    'sandbox-agent attachments get demo "${path##*/}" --output copy.png',
    "changes list": "sandbox-agent changes list demo\n"
    "sandbox-agent changes list demo --json | jq -r '.files[].diff' | less",
    "changes revert": "sandbox-agent changes revert demo --paths src/main.py\nsandbox-agent changes revert demo --all",
    "fs entries": "sandbox-agent fs entries /srv/project\nsandbox-agent fs entries --session-id demo src",
    "fs read": "sandbox-agent fs read --session-id demo README.md\n"
    "sandbox-agent fs read core.bin --range bytes=0-1023 --output head.bin",
    "fs write": "sandbox-agent fs write /srv/project/notes.md notes.md\n"
    "date | sandbox-agent fs write --session-id demo now.txt -",
    "fs upload-batch": "tar c src | sandbox-agent fs upload-batch - /srv/project",
    "fs download": "sandbox-agent fs download /srv/project | tar x\n"
    "sandbox-agent fs download --session-id demo src --format zip --output src.zip",
    "fs search": "sandbox-agent fs search --session-id demo --glob '*.py' --text TODO\n"
    "sandbox-agent fs search /srv/project --regex 'def test_\\w+'",
    "fs watch": "sandbox-agent fs watch --session-id demo",
    "cp": "sandbox-agent cp report.pdf :/srv/project/\nsandbox-agent cp src demo:src\n"
    "sandbox-agent cp :/srv/project/out.log .\nsandbox-agent cp demo:dist dist",
    "events sse": "sandbox-agent events sse | jq -c '[.session_id, .type]'",
    "run": 'sandbox-agent run claude "Explain this folder"\n'
    "git diff | sandbox-agent run codex -\n"
    'sandbox-agent run mock --session demo "permission hello"',
    "daemon start": "sandbox-agent daemon start\nsandbox-agent daemon start --port 0 --json",
    "sessions export": "sandbox-agent sessions export demo --output demo.jsonl --include-raw",
    "sessions prune": "sandbox-agent sessions prune --older-than 30d --dry-run\n"
    "sandbox-agent sessions prune --max-size 500M --yes",
    "install-agent": "sandbox-agent install-agent claude\nsandbox-agent install-agent all\n"
    "sandbox-agent install-agent codex --version latest\n"
    "sandbox-agent install-agent claude --version 2.1.325 --from /mnt/mirror",
    "credentials extract-env": 'eval "$(sandbox-agent credentials extract-env --export)"',
    "completion": "sandbox-agent completion bash > ~/.local/share/bash-completion/completions/sandbox-agent\n"
    'sandbox-agent completion zsh > "${fpath[1]}/_sandbox-agent"\n'
    "sandbox-agent completion fish > ~/.config/fish/completions/sandbox-agent.fish",
    "translate": "sandbox-agent translate claude native.jsonl | jq -c '[.type, .data]'",
}

Subparsers = argparse._SubParsersAction  # argparse has no public name for it


class Parser(argparse.ArgumentParser):
    """Flags and positional arguments in any order: by itself argparse ends an optional positional at the first flag.

    A group without a command shows which there are.
    """

    _mixing = False

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        if self._subparsers is not None:
            known, unknown = super().parse_known_args(args, namespace)
            if not unknown and not hasattr(known, "_handler"):
                self.print_help(sys.stderr)
                self.exit(WrongUsage.exit_code)
            return known, unknown
        if self._mixing:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False


def parser(*, server_alone: bool = False) -> argparse.ArgumentParser:
    """Every command, or for the sake of a quick start only the server. Options for the daemon's address may stand before the command or after it."""
    from .. import __version__

    root: argparse.ArgumentParser = Parser(
        prog=PROG,
        description="One API for every coding agent: a daemon, and commands that talk to it.",
        epilog=ROOT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    root.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    _add_client_options(root, hidden=True)
    commands = root.add_subparsers(metavar="COMMAND")
    _add_server(commands)
    if server_alone:
        return root
    _add_run(commands)
    _add_copy(commands)
    _add_daemon(commands)
    _add_operations(commands)
    _add_tools(commands)
    return root


# -- operations -------------------------------------------------------------------------------


def _add_operations(commands: Subparsers[argparse.ArgumentParser]) -> None:
    groups: dict[str, Subparsers[argparse.ArgumentParser]] = {}
    for command in COMMANDS:
        if command.group not in groups:
            groups[command.group] = _add_group(commands, command.group, GROUPS[command.group])
        one = _add(
            groups[command.group],
            command.name,
            command.summary,
            "call:call",
            command.aliases,
            more=command.description,
        )
        one.set_defaults(_command=command)
        for argument in command.arguments:
            _add_field(one, command, argument)
        if command.answer == "content":
            one.add_argument("--output", metavar="FILE", help="Write to a file instead of stdout.")
    _add_export(groups["sessions"])
    _add_prune(groups["sessions"])


def _add_field(parser: argparse.ArgumentParser, command: Command, field: Argument) -> None:
    if field.place == "path":
        # Without an id the daemon makes one: that is the operation `sessions.new`.
        optional = "?" if command.name == "sessions create" else None
        parser.add_argument(field.name, nargs=optional, metavar=field.name.upper(), help=_escaped(field.help))
        return
    if field.is_word:
        optional = None if field.required else "?"
        parser.add_argument(field.name, nargs=optional, metavar=field.name.upper(), help=_escaped(field.help))
        return
    match field.kind:
        case "file":
            parser.add_argument(field.name, metavar="FILE", help="The file to send; `-` reads it from stdin.")
        case "attachments":
            text = "File that goes with it; repeatable. One that is not here is looked for on the daemon's machine."
            parser.add_argument("--attach", dest=field.name, action="append", metavar="PATH", help=text)
        case "pairs":
            text = f"{field.help} Without `=VALUE` the value comes from this shell's environment; repeatable."
            parser.add_argument(field.flag, action="append", metavar="KEY[=VALUE]", help=_escaped(text))
        case "mcp":
            text = f"{field.help} NAME='command args', NAME=URL, or JSON ({{name: {{command, args, env}}}}); repeatable."
            parser.add_argument(field.flag, action="append", metavar="SERVER", help=_escaped(text))
        case "answers":
            either = parser.add_mutually_exclusive_group(required=field.required)
            text = "The chosen labels of one question, separated by commas; repeat it for each question."
            either.add_argument("--answer", action="append", metavar="LABEL[,LABEL]", help=text)
            either.add_argument(
                "--answers", metavar="JSON", help="The same as JSON: a list of labels per question."
            )
        case _:
            _add_flag(parser, field)


def _add_flag(parser: argparse.ArgumentParser, field: Argument) -> None:
    text = _escaped(field.help)
    match field.kind:
        case "switch":
            parser.add_argument(field.flag, action="store_const", const=True, help=text)
        case "list":
            parser.add_argument(field.flag, action="append", metavar="VALUE", help=text)
        case _:
            parser.add_argument(
                field.flag,
                type={"integer": int, "number": float}.get(field.kind, str),
                required=field.required,
                choices=field.choices or None,
                metavar=None if field.choices else field.name.rsplit("_", 1)[-1].upper(),
                help=text,
            )


# -- commands of our own ----------------------------------------------------------------------


def _add_server(commands: Subparsers[argparse.ArgumentParser]) -> None:
    more = "Every flag can be given as a variable too: SANDBOX_AGENT_PORT for --port. Flags win."
    server = _add(
        commands, "server", "Run the daemon in the foreground.", "server:server", more=more, client=False
    )
    _add_settings(server)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    for setting in SETTINGS:
        _add_flag(parser, setting)


def _add_run(commands: Subparsers[argparse.ArgumentParser]) -> None:
    more = (
        "Uses the daemon that runs, or starts one for as long as it takes. On a terminal permissions and questions are asked;"
        "\nelsewhere they are rejected, the answer goes to stdout and everything else to stderr."
    )
    run = _add(commands, "run", "Give an agent one prompt and show what it does.", "run:run", more=more)
    run.add_argument("agent", metavar="AGENT", help=f"Which agent: {', '.join(AGENT_NAMES)}.")
    run.add_argument(
        "prompt", metavar="PROMPT", nargs="?", help="What to say; `-` or nothing reads it from stdin."
    )
    run.add_argument(
        "--session", metavar="ID", help="Go on with this session; it is created if it does not exist."
    )
    run.add_argument("--directory", metavar="DIR", help="Where the agent works. Default: the current folder.")
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
        "--env",
        action="append",
        metavar="KEY[=VALUE]",
        help="A variable for a new session's agent. Without `=VALUE` the value comes from this shell; repeatable.",
    )
    run.add_argument(
        "--attach",
        dest="attachments",
        action="append",
        metavar="PATH",
        help="File that goes with it; repeatable.",
    )


def _add_daemon(commands: Subparsers[argparse.ArgumentParser]) -> None:
    daemon = _add_group(commands, "daemon", "A daemon in the background, which the other commands find.")
    more = "Takes the flags of `server`. Without one about a token, it makes one."
    start = _add(
        daemon,
        "daemon start",
        "Start it and wait until it is ready.",
        "daemon_command:start",
        more=more,
        client=False,
    )
    _add_settings(start)
    stop = _add(
        daemon, "daemon stop", "Stop it and wait until it is gone.", "daemon_command:stop", client=False
    )
    status = _add(
        daemon, "daemon status", "Say whether it runs, and where.", "daemon_command:status", client=False
    )
    for one in (start, stop, status):
        _add_json(one)
    for one in (stop, status):
        _add_data_dir(one)


def _add_copy(commands: Subparsers[argparse.ArgumentParser]) -> None:
    more = (
        "One of the two paths is on the daemon's machine: SESSION:PATH, relative to that session's directory,\n"
        "or :PATH (also remote:PATH), relative to the home of the daemon's user. A folder is copied with all that is in it."
    )
    copy = _add(
        commands, "cp", "Copy files and folders to the daemon's machine, or from it.", "copy:copy", more=more
    )
    copy.add_argument("source", metavar="FROM", help="What to copy.")
    copy.add_argument("target", metavar="TO", help="Where to; into it where that is a folder.")


def _add_export(sessions: Subparsers[argparse.ArgumentParser]) -> None:
    export = _add(
        sessions, "sessions export", "Write all events of a session as JSON lines.", "archive:export"
    )
    export.add_argument("session_id", metavar="SESSION_ID", help="Which session.")
    export.add_argument("--output", metavar="FILE", help="Write to a file instead of stdout.")
    export.add_argument("--include-raw", action="store_true", help="With the native payload of each event.")


def _add_prune(sessions: Subparsers[argparse.ArgumentParser]) -> None:
    prune = _add(sessions, "sessions prune", "Delete old sessions that are idle or ended.", "archive:prune")
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


def _add_tools(commands: Subparsers[argparse.ArgumentParser]) -> None:
    more = (
        "Into the data folder of this machine, from the publisher, from npm's registry or from a mirror (docs/install.md)."
        "\nA daemon that is named with --endpoint installs it on its own machine instead."
    )
    install = _add(
        commands, "install-agent", "Install an agent, or all of them.", "install:install", more=more
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

    credentials = _add_group(commands, "credentials", "Keys that agents would find on this machine.")
    extract = _add(
        credentials,
        "credentials extract",
        "Show them per agent, hidden: where each was found and when it expires.",
        "credentials:extract",
        client=False,
    )
    env = _add(
        credentials,
        "credentials extract-env",
        "Print them as variables, one per line.",
        "credentials:extract_env",
        client=False,
    )
    env.add_argument(
        "--export",
        action="store_true",
        help="For a shell's eval: with `export` in front, and with the values.",
    )
    for one in (extract, env):
        one.add_argument("--agent", metavar="AGENT", help="Only this agent.")
        one.add_argument("--reveal", action="store_true", help="Show the values instead of hiding them.")
        _add_json(one)

    more = "Exit code 1 when something is broken; a warning is not."
    _add(commands, "doctor", "Look for problems and say what to do about them.", "doctor:doctor", more=more)

    completion = _add(
        commands,
        "completion",
        "Print a completion script for a shell.",
        "completion:completion",
        client=False,
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))

    translate = _add(
        commands, "translate", "Print a recording as universal events.", "translate:translate", client=False
    )
    translate.add_argument("agent", metavar="AGENT", help=f"Whose recording it is: {', '.join(AGENT_NAMES)}.")
    translate.add_argument(
        "file", metavar="FILE", help="The recording (docs/recordings.md); `-` reads stdin."
    )
    translate.add_argument(
        "--include-raw", action="store_true", help="With the native payload of each event."
    )


# -- the parts of a parser --------------------------------------------------------------------


def _add(
    commands: Subparsers[argparse.ArgumentParser],
    name: str,
    summary: str,
    handler: str,
    aliases: tuple[str, ...] = (),
    *,
    more: str = "",
    client: bool = True,
) -> argparse.ArgumentParser:
    """A command; `name` is all of it, as in the examples."""
    examples = EXAMPLES.get(name, "").splitlines()
    command = commands.add_parser(
        name.rsplit(" ", 1)[-1],
        aliases=aliases,
        help=_escaped(summary),
        description=_escaped(f"{summary}\n\n{more}".strip()),
        epilog="\n".join(["examples:", *(f"  {line}" for line in examples)]) if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.set_defaults(_handler=handler)
    if client:
        _add_client_options(command)
    return command


def _add_group(
    commands: Subparsers[argparse.ArgumentParser], name: str, summary: str
) -> Subparsers[argparse.ArgumentParser]:
    group = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    return group.add_subparsers(metavar="COMMAND")


def _add_client_options(parser: argparse.ArgumentParser, *, hidden: bool = False) -> None:
    def text(words: str) -> str:
        return argparse.SUPPRESS if hidden else words

    client = parser.add_argument_group("the daemon to talk to")
    # Suppressed defaults: what was given before the command is not overwritten by what was not given after it.
    absent = argparse.SUPPRESS
    client.add_argument(
        "--endpoint",
        metavar="URL",
        default=absent,
        help=text("Its address. Default: the daemon that runs on the state folder."),
    )
    client.add_argument("--token", metavar="TOKEN", default=absent, help=text("Its token."))
    client.add_argument(
        "--token-file",
        metavar="FILE",
        default=absent,
        help=text("File that holds its token (a flag shows in process lists)."),
    )
    _add_data_dir(client, hidden=hidden)
    _add_json(parser, hidden=hidden)


def _add_data_dir(parser: argparse._ActionsContainer, *, hidden: bool = False) -> None:
    text = argparse.SUPPRESS if hidden else "State folder in which a daemon is looked for."
    parser.add_argument("--data-dir", metavar="DIR", default=argparse.SUPPRESS, help=text)


def _add_json(parser: argparse.ArgumentParser, *, hidden: bool = False) -> None:
    text = argparse.SUPPRESS if hidden else "Output for machines, errors too."
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=text)


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


# -- from a command line to its handler -------------------------------------------------------


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """A leading `api` is skipped, and flags of the server alone are the server."""
    words = _without_api(argv)
    if not words:
        parser().print_help(sys.stderr)
        raise SystemExit(WrongUsage.exit_code)
    if _is_bare_server(words):
        words = ["server", *words]
    return parser(server_alone=words[0] == "server").parse_args(words)


def _without_api(argv: Sequence[str]) -> list[str]:
    """Only in the place of a command, which options for the daemon's address may precede: a prompt may be `api`."""
    place = 0
    while place < len(argv) and argv[place].partition("=")[0] in CLIENT_FLAGS:
        place += 1 if argv[place] == "--json" or "=" in argv[place] else 2
    words = list(argv)
    if words[place : place + 1] == ["api"]:
        del words[place]
    return words


def _is_bare_server(words: list[str]) -> bool:
    """Only flags of the server, with their values: there is no command among them."""
    flags = {setting.flag: setting for setting in SETTINGS}
    rest = iter(words)
    for word in rest:
        name, given, _ = word.partition("=")
        if name not in flags:
            return False
        if flags[name].kind != "switch" and not given:
            next(rest, None)
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code; wrong usage leaves through argparse's own exit."""
    args = parse(sys.argv[1:] if argv is None else argv)
    try:
        module, _, function = args._handler.partition(":")
        handler = getattr(importlib.import_module(f"{__package__}.{module}"), function)
        code: int = handler(args)
        sys.stdout.flush()
        return code
    except CommandFailed as failure:
        _tell(failure, as_json=getattr(args, "json", False))
        return failure.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone. Nobody is told, and the interpreter must not try to flush at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _tell(failure: CommandFailed, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(failure.problem()), file=sys.stderr)
        return
    text = failure.readable()
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        text = text.replace("error:", "\x1b[31merror:\x1b[0m", 1)
    print(text, file=sys.stderr)
