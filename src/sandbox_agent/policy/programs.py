"""Programs that run other programs: what they run, as far as their arguments say it.

`sudo`, `env` or `xargs` are replaced by the command that they run, `sh -c` by the commands of its script. A program that can run
something its words do not say plainly (`python -c`, `git -c`) is unclear.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from . import interpreters, subscripts


class Word(Struct, frozen=True):
    text: str
    certain: bool = True
    """False if an expansion decides what it says, or how many words it becomes."""
    single: bool = True
    """It stays one word, whatever it says."""
    glob: bool = False
    """A pattern for file names, which may become several words that begin alike."""


class Command(Struct, frozen=True, dict=True):
    """A program and its words, or what a redirection writes. Every rule is compared with it, so what they need is cached."""

    words: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    """Files that redirections write; an uncertain word if the file is not known."""
    clean: bool = True
    """It runs with the rights and the environment of the agent. Otherwise it may do something else than its words say."""
    unclear: str = ""
    """Why it is not certain what it runs."""
    assigned: tuple[Word, ...] = ()
    """Variables set for it whose values could be commands."""

    @cached_property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @cached_property
    def essential(self) -> tuple[Word, ...]:
        """`git -C there push` as `git push`."""
        return without_global_options(self.words) if self.words else ()

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """Everything that looks like a word, also within its words."""
        words = (*self.essential, *self.assigned)
        found = _BETWEEN_WORDS.split(_QUOTES.sub("", " ".join(word.text for word in words)))
        return tuple(piece for piece in found if piece)

    @cached_property
    def piece_names(self) -> frozenset[str]:
        """The pieces as names of programs."""
        names = {piece.casefold() for piece in self.pieces}
        return frozenset(names | {posixpath.basename(name) for name in names})

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Hosts of its URLs."""
        return frozenset(host.casefold().rstrip(".") for host in _URL.findall(self.text))

    @cached_property
    def host_names(self) -> frozenset[str]:
        """Everything that looks like the name of a host."""
        return frozenset(_HOST.findall(self.text.casefold()))

    @cached_property
    def is_certain(self) -> bool:
        return not self.unclear and all(word.certain for word in self.words)


_QUOTES = re.compile(r"['\"\\]")
_BETWEEN_WORDS = re.compile(r"[^\w./*~-]+")
# The repetitions are bounded: a long word must not take long to search.
_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://(?:[^\s/@'\"]{0,200}@)?|\w{1,64}@)([\w.-]{1,255})", re.IGNORECASE
)
_HOST = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,10}")


MAX_WORDS = 500
MAX_SEARCHED = 1_000
"""Longer words are not searched for commands that a program is to run."""

Nested = Callable[[str], list[Command]]
"""Reads a script in an argument."""

_HARMLESS = re.compile(
    r"LANG|LC_[A-Z]+|LANGUAGE|TZ|CI|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|TERM|NODE_ENV|DEBUG|RUST_BACKTRACE",
    re.ASCII,
)
_KNOWN_TO_PROGRAMS = re.compile(r"\w*(path|_proxy)|npm_\w*", re.ASCII)


def is_harmless(assignment: str, *, exported: bool) -> bool:
    """Whether setting this variable cannot change what a program does, apart from its language and colours."""
    name = assignment.partition("=")[0].removesuffix("+")
    if name.islower() and not exported:  # such a variable is the shell's own, unless it was exported before
        return _KNOWN_TO_PROGRAMS.fullmatch(name) is None
    return _HARMLESS.fullmatch(name) is not None


_SETTING = frozenset(
    {"export", "declare", "typeset", "readonly", "local", "set", "shopt", "unset", "read", "printf"}
)


def changes_environment(words: list[Word]) -> bool:
    """Whether commands after this one may mean something else."""
    return words[0].text in _SETTING and (
        words[0].text != "printf" or any(word.text == "-v" for word in words)
    )


_MOVING = frozenset({"cd", "chdir", "pushd", "popd"})


def destination(command: Command) -> str | None:
    """Where the shell goes with this command: empty if it stays, None if that is not certain."""
    if not command.words or command.words[0].text not in _MOVING:
        return ""
    words = command.words[1:]
    if len(words) != 1 or not words[0].certain or words[0].glob or words[0].text[:1] in ("", "-", "+", "~"):
        return None
    return words[0].text


# -- programs that run the rest of their words ------------------------------------------------------


class Wrapper(Struct, frozen=True):
    flags: str = ""
    values: str = ""
    """Options that are followed by a value."""
    long_flags: frozenset[str] = frozenset()
    long_values: frozenset[str] = frozenset()
    positions: int = 0
    """Words before the command."""
    assigns: bool = False
    """Variables may come before the command."""
    clean: bool = True
    appends: bool = False
    """It adds words that are not known."""


WRAPPERS: dict[str, Wrapper] = {
    "env": Wrapper(
        "i0v", "uC", frozenset({"ignore-environment", "null"}), frozenset({"unset", "chdir"}), assigns=True
    ),
    "sudo": Wrapper("AbEHiKknPSs", "CghpRrTtUuD", assigns=True, clean=False),
    "doas": Wrapper("nLs", "Cu", clean=False),
    "nice": Wrapper("0123456789", "n", long_values=frozenset({"adjustment"})),
    "ionice": Wrapper("t", "cn"),
    "timeout": Wrapper(
        "fpv",
        "ks",
        frozenset({"foreground", "preserve-status", "verbose"}),
        frozenset({"kill-after", "signal"}),
        positions=1,
    ),
    "nohup": Wrapper(),
    "setsid": Wrapper("cfw"),
    "stdbuf": Wrapper("", "ioe"),
    "time": Wrapper("pavl", "fo"),
    "command": Wrapper("p"),
    "builtin": Wrapper(),
    "exec": Wrapper("cl", "a"),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "chroot": Wrapper("", "", positions=1, clean=False),
    "xargs": Wrapper(
        "0rtpxo",
        "InPLdaEs",
        frozenset({"null", "no-run-if-empty", "verbose", "exit"}),
        frozenset({"max-args", "max-procs", "delimiter", "arg-file", "max-chars"}),
        appends=True,
    ),
}

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"})

_NOT_READ = {
    **dict.fromkeys(
        ("source", ".", "trap", "alias", "enable", "hash", "let", "complete", "compgen"),
        "it changes the shell",
    ),
    **dict.fromkeys(
        ("fish", "csh", "tcsh", "pwsh", "powershell", "nu", "xonsh"), "its language is not understood"
    ),
    **dict.fromkeys(
        ("vi", "vim", "nvim", "ex", "ed", "emacs", "osascript", "expect", "gdb"),
        "it runs commands of its own",
    ),
    **dict.fromkeys(
        ("ssh", "su", "runuser", "pkexec", "nsenter", "unshare", "systemd-run"), "it runs commands elsewhere"
    ),
    **dict.fromkeys(
        ("parallel", "script", "at", "batch", "crontab", "screen", "tmux", "watch", "flock", "strace"),
        "it runs other programs",
    ),
}

_GIT_COMMANDS = frozenset(
    (
        "add am annotate apply archive blame branch bundle cat-file check-ignore checkout cherry cherry-pick clean clone "
        "commit count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep "
        "hash-object help init log ls-files ls-remote ls-tree merge merge-base merge-file merge-tree mv name-rev notes "
        "pull push range-diff read-tree rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show "
        "show-branch show-ref sparse-checkout stash status switch symbolic-ref tag update-index update-ref var "
        "verify-commit verify-tag version whatchanged worktree write-tree"
    ).split()
)
"""Git's own commands that run no other program unless an option says so. Any other word may be an alias."""
_GIT_FLAGS = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--version", "--help"}
)
_GIT_RUNS = re.compile(
    # `--exec`, `--upload-pack`, `--receive-pack`, `--template`, `--config` and others, which may be abbreviated.
    r"--e(x(e(c.*)?)?)?(=.*)?$|--u(p(l.*)?)?(=.*)?$|--rece|--te(m.*)?(=.*)?$|--co(n(f.*)?)?(=.*)?$|--op|--ou|--ext|--textc|\w+::",
    re.ASCII | re.DOTALL,
)
_GIT_RUNS_IN = {
    "clone": re.compile(r"-[A-Za-z]*[uc]"),
    "rebase": re.compile(r"-[A-Za-z]*x"),
    "grep": re.compile(r"-[A-Za-z]*O"),
    "archive": re.compile(r"-[A-Za-z]*o"),
    "format-patch": re.compile(r"-[A-Za-z]*o"),
    "init": re.compile(r"--t"),
}
_RUNS: dict[str, re.Pattern[str]] = {
    "tar": re.compile(r"--(to|chec|us|rs|inf|new|rm)|-[A-Za-z]*[IF]"),
    "rsync": re.compile(r"-[A-Za-z]*e|--rs"),
    "scp": re.compile(r"-[A-Za-z]*[oSD]"),
    "make": re.compile(r"(?s)-[A-Za-z]*E|--ev|SHELL=|.*\$\("),
    "go": re.compile(r"-?-(exec|toolexec)"),
    "zip": re.compile(r"-[A-Za-z]*T|--unz"),
    "sort": re.compile(r"--comp"),
    "split": re.compile(r"--f"),
    "npx": re.compile(r"-c|--cal"),
    "npm": re.compile(r"-c|--cal"),
    "sqlite3": re.compile(r"(?s).*\.(sh|sy)"),
    "psql": re.compile(r"(?s).*\\!"),
    "jobs": re.compile(r"-[A-Za-z]*x"),
    "mapfile": re.compile(r"-[A-Za-z]*C"),
    "man": re.compile(r"-[A-Za-z]*[PH]|--pa|--h"),
    "awk": re.compile(r"(?s)-f|--|.*(system|\||getline|@)"),
    "sed": re.compile(
        r"(?s)-[A-Za-z]*f|--fi|(.*[;{}\n0-9$/!,])?\s*e(\s|$)|(.*[;{}\n])?\s*s\w"
        r"|.*[\W_][gpiImMw0-9]*e[gpiImMw0-9]*\s*([;}\n]|$)"
    ),
}
"""Words that make a program run another."""
_SAME = {
    "gawk": "awk",
    "mawk": "awk",
    "nawk": "awk",
    "gsed": "sed",
    "gmake": "make",
    "bsdtar": "tar",
    "gtar": "tar",
    "readarray": "mapfile",
}


def run(words: list[Word], clean: bool, nested: Nested) -> list[Command]:
    """The commands that these words run."""
    name = words[0]
    if len(words) > MAX_WORDS:
        return [_unclear(words[:MAX_WORDS], "it has too many words")]
    if not name.certain or name.glob:
        return [_unclear(words, "the program's name is not certain")]
    if not name.text.isascii() or name.text.startswith(("=", "%")) or not name.text:
        return [_unclear(words, "the program's name is not plain")]
    program = posixpath.basename(name.text)
    if program in WRAPPERS:
        return _unwrapped(program, WRAPPERS[program], words, clean, nested)
    if program in SHELLS:
        return _shell(words, clean, nested)
    if program == "eval":
        return _evaluated(words, nested)
    if program == "find":
        return _found(words, clean, nested)
    return [Command(tuple(words), clean=clean, unclear=_doubt(program, words))]


def _unclear(words: list[Word], why: str) -> Command:
    return Command(tuple(words), unclear=why)


def _doubt(program: str, words: list[Word]) -> str:
    """Why this program may run something else, if so."""
    if program in _NOT_READ:
        return f"`{program}`: {_NOT_READ[program]}"
    if program == "git":
        return _doubt_about_git(words)
    if subscripts.may_evaluate(program, words[1:]):
        return f"`{program}` may evaluate one of its words"
    arguments = [word.text for word in words[1:]]
    certain = all(word.certain for word in words)
    if interpreters.is_interpreter(program):
        is_code = not certain or interpreters.has_code(arguments) or interpreters.reads_input(arguments)
        return f"`{program}` runs code that is not understood" if is_code else ""
    known = _SAME.get(program, program)
    if known == "tar" and arguments:
        arguments[0] = "-" + arguments[0].lstrip("-") if not arguments[0].startswith("--") else arguments[0]
    if known == "sed":
        arguments = [word for word in arguments if word.startswith("-")] + _sed_scripts(arguments)
    runs = _RUNS.get(known)
    certain = certain and all(len(word) <= MAX_SEARCHED for word in arguments)
    if runs is not None and (not certain or any(runs.match(word) for word in arguments)):
        return f"`{program}` has arguments that may run another program"
    return f"`{program}` may run code that is not understood" if _runs_interpreter(words[1:]) else ""


def _runs_interpreter(words: list[Word]) -> bool:
    """Whether code or a script for another program is among the words, as in `docker exec it sh -c …`."""
    for at, word in enumerate(words):
        name = posixpath.basename(word.text)
        runs_code = name in SHELLS or interpreters.is_interpreter(name)
        if runs_code and interpreters.has_code([word.text for word in words[at + 1 :]]):
            return True
    return False


def _sed_scripts(arguments: list[str]) -> list[str]:
    scripts = [word for option, word in itertools.pairwise(arguments) if option.startswith("-")]
    return scripts + [word for word in arguments if not word.startswith("-")][:1]


def _doubt_about_git(words: list[Word]) -> str:
    plain = without_global_options(tuple(words))[1:]
    if not plain:
        return ""
    command = plain[0].text
    if command not in _GIT_COMMANDS or not plain[0].certain:
        return "" if command in _GIT_FLAGS else f"`git {command}` may run other programs"
    own = _GIT_RUNS_IN.get(command)
    is_message = False
    for word in plain[1:]:
        if is_message and word.single:
            is_message = False
            continue
        is_message = word.text in ("-m", "-am", "--message") and word.certain
        if not word.certain or _GIT_RUNS.match(word.text) or (own is not None and own.match(word.text)):
            return f"`git {command}` has arguments that may run another program"
    return ""


def without_global_options(words: tuple[Word, ...]) -> tuple[Word, ...]:
    if posixpath.basename(words[0].text) != "git":
        return words
    at = 1
    while at < len(words) and (words[at].text == "-C" or words[at].text in _GIT_FLAGS):
        at += 2 if words[at].text == "-C" else 1
    return (words[0], *words[at:])


def _unwrapped(
    program: str, wrapper: Wrapper, words: list[Word], clean: bool, nested: Nested
) -> list[Command]:
    if program == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
        return [Command(tuple(words), clean=clean)]
    at = _skip_options(wrapper, words)
    if at is None:
        return [_unclear(words, f"an option of `{program}` is not known")]
    at += wrapper.positions
    while wrapper.assigns and at < len(words) and re.match(r"[A-Za-z_]\w*=", words[at].text):
        if subscripts.is_evaluated(words[at].text):
            return [_unclear(words, "it sets a variable that a shell evaluates")]
        clean = clean and is_harmless(words[at].text, exported=True)
        at += 1
    rest = words[at:]
    if any(not word.certain for word in words[:at]):
        return [_unclear(words, f"the words of `{program}` are not certain")]
    if not rest and not wrapper.clean:
        return [_unclear(words, "the commands of a shell are not known")]
    if not rest:
        return [Command(tuple(words), clean=clean)]
    if wrapper.appends:
        rest = [*_with_replaced(words[1:at], rest), Word("", certain=False)]
    return run(rest, clean and wrapper.clean, nested)


def _with_replaced(options: list[Word], rest: list[Word]) -> list[Word]:
    """The words in which `xargs -I X` replaces the X. Every value is taken for one: it may only be more than there are."""
    values = {word.text.partition("I")[2] if word.text.startswith("-") else word.text for word in options}
    values.discard("")
    return [
        Word(word.text, certain=False) if any(value in word.text for value in values) else word
        for word in rest
    ]


def _skip_options(wrapper: Wrapper, words: list[Word]) -> int | None:
    """Where the words after the options begin; None if an option is not known."""
    at = 1
    while at < len(words) and words[at].text.startswith("-") and words[at].certain:
        text = words[at].text
        at += 1
        if text == "--":
            break
        if text.startswith("--"):
            name, equals, _ = text[2:].partition("=")
            if name in wrapper.long_values:
                at += 0 if equals else 1
            elif name not in wrapper.long_flags or equals:
                return None
            continue
        for position, letter in enumerate(text[1:]):
            if letter in wrapper.values:
                at += 0 if text[2 + position :] else 1
                break
            if letter not in wrapper.flags:
                return None
    return at


_FLAGS = re.compile(r"[-+][A-Za-z]+|--(norc|noprofile|login|posix)")


def _shell(words: list[Word], clean: bool, nested: Nested) -> list[Command]:
    """`sh -c SCRIPT`; any other script is in a file or on stdin."""
    at = 1
    while at < len(words) and words[at].certain and _FLAGS.fullmatch(text := words[at].text):
        at += 1
        if text.startswith("--"):
            continue
        if "o" in text[1:] or "O" in text[1:]:
            at += 1
        if text[0] == "-" and "c" in text[1:]:
            return _script(words, at, clean, nested)
    return [_unclear(words, "the commands of a shell are not known")]


def _script(words: list[Word], at: int, clean: bool, nested: Nested) -> list[Command]:
    while at < len(words) and words[at].certain and _FLAGS.fullmatch(words[at].text):
        at += 1
    if at >= len(words) or not words[at].certain or words[at].glob or words[at].text[:1] in ("-", "+"):
        return [_unclear(words, "the script of a shell is not certain")]
    found = nested(words[at].text)
    if words[at + 1 :]:
        found = [*found, _unclear(words, "a script has arguments")]
    return found if clean else [_with_doubt(command) for command in found]


def _with_doubt(command: Command) -> Command:
    return Command(command.words, command.writes, False, command.unclear)


def _evaluated(words: list[Word], nested: Nested) -> list[Command]:
    if all(word.certain and not word.glob for word in words):
        return nested(" ".join(word.text for word in words[1:]))
    return [_unclear(words, "what `eval` runs is not certain")]


def _found(words: list[Word], clean: bool, nested: Nested) -> list[Command]:
    """`find`, and what its `-exec` runs."""
    if not all(word.certain for word in words):
        return [_unclear(words, "what `find` runs is not certain")]
    commands = [Command(tuple(words), clean=clean)]
    at = 0
    while at < len(words):
        if words[at].text not in ("-exec", "-execdir", "-ok", "-okdir"):
            at += 1
            continue
        end = at + 1
        while end < len(words) and not _ends_exec(words[end - 1].text, words[end].text):
            end += 1
        inner = [Word("", certain=False) if "{}" in word.text else word for word in words[at + 1 : end]]
        commands += run(inner, clean, nested) if inner else [_unclear(words, "`-exec` has no command")]
        at = end
    return commands


def _ends_exec(before: str, text: str) -> bool:
    return text == ";" or (text == "+" and before == "{}")
