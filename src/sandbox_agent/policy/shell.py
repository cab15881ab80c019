"""Reads a command line as a POSIX shell would: which programs run, with which words.

It answers one question: what does this line certainly do? Whatever it does not know for certain, it calls unclear, and an unclear
command is never allowed. So it need not know all of the shell, but it must never be wrong about what it claims to know.
"""

from __future__ import annotations

import os.path
import re
import unicodedata
from typing import NamedTuple, NoReturn

from msgspec import Struct, structs

from . import programs
from .programs import Command, Word
from .script import UNKNOWN_FILE, Script
from .subscripts import is_evaluated

MAX_CHARACTERS = 64 * 1024
MAX_COMMANDS = 100
MAX_NESTED = 16


def read(line: str) -> tuple[Command, ...]:
    """Every command that the line runs. The commands before something unclear are kept."""
    if len(line) > MAX_CHARACTERS:
        return (Command(unclear="the command is too long"),)
    script = Script()
    try:
        _check_characters(line)
        _Reader(line, script, 0).read()
    except Unclear as unclear:
        script.commands.append(Command(unclear=str(unclear)))
    return tuple(script.commands)


class Unclear(Exception):
    """The line holds something whose effect is not certain."""


class _Lexed(NamedTuple):
    word: Word
    plain: bool
    """Nothing in it was quoted or expanded."""
    assigns: bool


class _HereDoc(Struct, frozen=True):
    end: str
    expands: bool
    strips_tabs: bool


_ENDS = " \t\n;&|()<>"
_REDIRECTION = re.compile(r"(?:\d*|\{\w+\})(<<<|<<-|<<|<>|<&|>&|>>|>\||<(?!\()|>(?!\())|(&>>|&>)")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?=)", re.ASCII)
_PARAMETER = re.compile(
    # Only forms that cannot run anything: `${x@P}`, `${x[...]}` and `${x:...}` evaluate what they find.
    r"\{(?:#?[A-Za-z_]\w*|[0-9@*#?$!-]|[A-Za-z_]\w*(?::?[-+=?]|##?|%%?)[^}$`'\"\\{()<>]*)\}",
    re.ASCII,
)
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
_SUM = re.compile(r"\(\([0-9\s+*/%-]*\)\)", re.ASCII)
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "E": "\x1b",
}
_SPLIT = re.compile(r"[$<>]\\\n")
"""A continued line that may split an operator such as `$(` or `<<`."""
_NUMBERED = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})")

_BEGINNINGS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{"})
"""Words after which a command begins."""
_ENDINGS = frozenset({"fi", "done", "}"})
_UNKNOWN = frozenset({"case", "select", "function", "coproc", "[[", "esac", "in"})

HARMLESS_FILES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"})


def _check_characters(line: str) -> None:
    for character in line:
        if character < " " and character not in "\n\t":
            raise Unclear("it contains a control character")
        if character > "~" and unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"):
            raise Unclear("it contains an invisible character")


class _Reader:
    def __init__(self, text: str, script: Script, depth: int) -> None:
        self._text = text
        self._script = script
        self._depth = depth
        self._at = 0
        self._open = 0
        """Parentheses around this place."""
        self._here_docs: list[_HereDoc] = []
        if depth > MAX_NESTED:
            raise Unclear("it is nested too deeply")
        if _SPLIT.search(text):
            raise Unclear("an operator is split over two lines")

    def read(self) -> None:
        self._commands("")

    # -- lists of commands --------------------------------------------------------------------

    def _commands(self, until: str) -> None:
        self._open += 1
        if self._open + self._depth > MAX_NESTED:
            self._fail("it is nested too deeply")
        self._read_until(until)
        self._open -= 1

    def _read_until(self, until: str) -> None:
        while True:
            self._command()
            rest = self._text[self._at : self._at + 2]
            if not rest:
                if until:
                    self._fail("a parenthesis is not closed")
                self._skip_here_docs()
                return
            if until and rest[0] == until:
                self._at += 1
                return
            if rest[0] == "\n":
                self._at += 1
                self._skip_here_docs()
            elif rest in ("&&", "||", "|&"):
                self._at += 2
            elif rest == ";;" or rest[0] not in ";&|":
                self._fail("it is not a list of commands")
            else:
                self._at += 1

    def _command(self) -> None:
        words: list[Word] = []
        writes: list[Word] = []
        assigned: list[Word] = []
        closed, begun, divided = False, False, False
        while True:
            self._skip_blanks()
            here = self._peek()
            if (redirection := self._redirection()) is not None:
                writes += redirection
                begun = True
                divided = divided or here == "&"
            elif here == "(":
                if words or begun or closed:
                    self._fail("it defines a function or uses an extended pattern")
                self._subshell()
                closed = True
            elif here in ("", "\n", ";", "|", ")", "&"):
                break
            elif here == "#":
                self._at = self._end_of_line()
            else:
                if closed:
                    self._fail("a word follows the end of a block")
                if divided:
                    self._fail("some shells take what follows `&>` for another command")
                lexed = self._word()
                at_start = not words and not begun
                if at_start and lexed.plain and lexed.word.text in _UNKNOWN:
                    self._fail(f"`{lexed.word.text}` is not understood")
                elif at_start and lexed.plain and lexed.word.text in _BEGINNINGS:
                    continue
                elif at_start and lexed.plain and lexed.word.text in _ENDINGS:
                    closed = True
                elif at_start and lexed.plain and lexed.word.text == "for":
                    self._loop_header()
                    break
                elif not words and lexed.assigns:
                    begun = True
                    assigned.append(lexed.word)
                else:
                    words.append(lexed.word)
        if any(is_evaluated(word.text) for word in assigned):
            self._fail("it sets a variable that the shell evaluates")
        clean = all(programs.is_harmless(word.text, exported=bool(words)) for word in assigned)
        self._add(words, writes, [word for word in assigned if len(word.text.split()) > 1], clean)

    def _add(self, words: list[Word], writes: list[Word], assigned: list[Word], clean: bool) -> None:
        script = self._script
        if not words:
            script.clean = script.clean and clean
            if assigned:
                script.commands.append(Command((Word("export"), *assigned)))
            if writes:
                script.commands.append(Command(writes=tuple(writes)))
            return
        found = programs.run(words, clean and script.clean, self._nested)
        if assigned:
            found = [structs.replace(command, assigned=tuple(assigned)) for command in found]
        if writes:
            # They belong to the whole line rather than to one program.
            found = [*found, Command(writes=tuple(writes))]
        script.commands += found
        for command in found:
            script.move(programs.destination(command))
        if len(script.commands) > MAX_COMMANDS:
            self._fail("it runs too many commands")
        script.clean = script.clean and not programs.changes_environment(words)

    def _nested(self, text: str) -> list[Command]:
        """The commands of a script in an argument, e.g. of `sh -c`."""
        script = Script()
        script.clean, script.directories = self._script.clean, self._script.directories
        try:
            _Reader(text, script, self._depth + 1).read()
        except Unclear as unclear:
            script.commands.append(Command(unclear=str(unclear)))
        return script.commands

    def _loop_header(self) -> None:
        """`for name in words`: the words are data. In `for name do` they are commands."""
        self._skip_blanks()
        name = self._word()
        if not name.plain or is_evaluated(name.word.text):
            self._fail("the variable of a loop is not a plain name")
        self._script.clean = self._script.clean and programs.is_harmless(name.word.text, exported=False)
        is_data = False
        while True:
            self._skip_blanks()
            if self._peek() in ("", "\n", ";"):
                return
            if self._peek() in tuple("()<>&|"):
                self._fail("the header of a loop is not understood")
            word = self._word()
            if not is_data and not (word.plain and word.word.text == "in"):
                self._fail("the header of a loop is not understood")
            is_data = True

    def _subshell(self) -> None:
        if self._text.startswith("((", self._at):
            self._fail("arithmetic is not understood")
        self._at += 1
        self._commands(")")

    def _substitution(self) -> None:
        """`$(…)` or `<(…)`. Shells disagree where the body of a here-document is that is still open at either end."""
        begin, waiting = self._at, self._here_docs
        self._here_docs = []
        self._commands(")")
        if self._here_docs or (waiting and "\n" in self._text[begin : self._at]):
            self._fail("where a here-document begins is not certain")
        self._here_docs = waiting

    # -- redirections -------------------------------------------------------------------------

    def _redirection(self) -> tuple[Word, ...] | None:
        """The files that a redirection may write; None if there is no redirection here."""
        found = _REDIRECTION.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        operator = found[1] or found[2]
        if ">" in operator and self._peek() == "!":
            self._fail("some shells take the `!` for a part of the redirection")
        self._skip_blanks()
        if operator in ("<<", "<<-"):
            self._here_docs.append(self._here_doc(operator))
            return ()
        lexed = self._word()
        target = lexed.word
        if target.text.startswith(("/dev/tcp", "/dev/udp")):
            self._fail("it connects to the network by a redirection")
        if operator == ">&" and (not target.certain or any(mark in target.text for mark in "$`")):
            self._fail("some shells expand the name of a file twice")
        if operator in ("<", "<<<", "<&"):
            return ()
        if not target.text or not target.certain or target.glob:
            return (UNKNOWN_FILE,)
        if operator == ">&" and re.fullmatch(r"\d+-?|-", target.text, re.ASCII):
            return ()
        if target.text in HARMLESS_FILES:
            return ()
        if target.text.startswith("~"):
            # Quoted, it is a name like any other.
            is_home = lexed.plain and target.text.startswith("~/") and self._script.clean
            return (Word(os.path.expanduser(target.text)),) if is_home else (UNKNOWN_FILE,)
        return self._script.written(target.text)

    def _here_doc(self, operator: str) -> _HereDoc:
        begin = self._at
        lexed = self._word()
        raw = self._text[begin : self._at]
        quoted = any(mark in raw for mark in "'\"\\")
        if not lexed.word.certain or "$" in raw or "`" in raw:
            self._fail("the end of a here-document is not certain")
        return _HereDoc(lexed.word.text, not quoted, operator == "<<-")

    def _skip_here_docs(self) -> None:
        waiting, self._here_docs = self._here_docs, []
        for document in waiting:
            body: list[str] = []
            while self._at < len(self._text):
                end = self._end_of_line()
                line = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                if self._ends(document, line, body):
                    break
                body.append(line)
            if document.expands:
                _Reader("\n".join(body), self._script, self._depth + 1).expand()

    def _ends(self, document: _HereDoc, line: str, body: list[str]) -> bool:
        bare = line.lstrip("\t") if document.strips_tabs else line
        continued = document.expands and bool(body) and body[-1].endswith("\\")
        # Some shells join continued lines before they compare, and take `END)` for the end.
        if (continued and document.end.endswith(bare)) or (bare.startswith(document.end) and ")" in bare):
            self._fail("where a here-document ends is not certain")
        return bare == document.end

    def expand(self) -> None:
        """Find the commands in a text in which `$(…)` is expanded, but which is not a command itself."""
        while self._at < len(self._text):
            match self._text[self._at]:
                case "\\":
                    self._at += 2
                case "$":
                    self._dollar(quoted=True)
                case "`":
                    self._backticks()
                case _:
                    self._at += 1

    # -- words --------------------------------------------------------------------------------

    def _word(self) -> _Lexed:
        begin = self._at
        assigned = _ASSIGNMENT.match(self._text, begin)
        text: list[str] = []
        certain, single, plain, glob, brace = True, True, True, False, False
        while self._at < len(self._text):
            here = self._text[self._at]
            if here in "<>" and self._text.startswith("(", self._at + 1) and not text:
                self._at += 2
                self._substitution()
                certain = single = plain = False
                continue
            if here in _ENDS:
                if here == "(":
                    self._fail("it defines a function, an array or an extended pattern")
                break
            match here:
                case "\\":
                    plain = False
                    text.append(self._escaped())
                case "'":
                    plain = False
                    text.append(self._single_quoted())
                case '"':
                    plain = False
                    piece, known = self._double_quoted()
                    text.append(piece)
                    certain = certain and known
                case "$":
                    plain = False
                    piece, known = self._dollar(quoted=False)
                    text.append(piece)
                    certain, single = certain and known, single and known
                case "`":
                    plain = certain = single = False
                    self._backticks()
                case _:
                    glob = glob or here in "*?["
                    brace = brace or here == "{"
                    text.append(here)
                    self._at += 1
        if self._at == begin:
            self._fail("a word is missing")
        whole = "".join(text)
        if brace and whole not in ("{", "{}"):
            certain = single = False  # `{a,b}` becomes several words
        glob = glob and whole != "["
        if glob and whole[:1] in ("*", "?", "[", "-"):
            certain = False  # a file may be called `-rf`
        return _Lexed(Word(whole, certain, single and not glob, glob), plain, assigned is not None)

    def _escaped(self) -> str:
        following = self._text[self._at + 1 : self._at + 2]
        if not following:
            self._fail("it ends with a backslash")
        self._at += 2
        return "" if following == "\n" else following

    def _single_quoted(self) -> str:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            self._fail("a quote is not closed")
        text = self._text[self._at + 1 : end]
        self._at = end + 1
        return text

    def _double_quoted(self) -> tuple[str, bool]:
        self._at += 1
        text: list[str] = []
        certain = True
        while True:
            match self._peek():
                case "":
                    self._fail("a quote is not closed")
                case '"':
                    self._at += 1
                    return "".join(text), certain
                case "\\":
                    following = self._text[self._at + 1 : self._at + 2]
                    text.append(
                        "" if following == "\n" else following if following in '$`"\\' else "\\" + following
                    )
                    self._at += 2
                case "$":
                    piece, known = self._dollar(quoted=True)
                    text.append(piece)
                    certain = certain and known
                case "`":
                    certain = False
                    self._backticks()
                case other:
                    text.append(other)
                    self._at += 1

    def _dollar(self, *, quoted: bool) -> tuple[str, bool]:
        """What a `$` stands for, and whether that is certain."""
        self._at += 1
        here = self._peek()
        if here == "(":
            if self._text.startswith("((", self._at):
                self._skip(_SUM, "arithmetic is not understood")
            else:
                self._at += 1
                self._substitution()
            return " ", False
        if here == "{":
            self._skip(_PARAMETER, "an expansion is not understood")
            return " ", False
        if here == "[":
            self._fail("arithmetic is not understood")
        if here == "'" and not quoted:
            return self._ansi_quoted(), True
        if here == '"' and not quoted:
            return self._double_quoted()
        if name := _NAME.match(self._text, self._at):
            self._at = name.end()
            return " ", False
        # Other shells may know what follows, e.g. `$=x`.
        return "$", quoted or not here or here in _ENDS

    def _ansi_quoted(self) -> str:
        """`$'…'` with its escapes."""
        self._at += 1
        text: list[str] = []
        while (here := self._peek()) != "'":
            if not here:
                self._fail("a quote is not closed")
            self._at += 1
            text.append(self._ansi_escape() if here == "\\" else here)
        self._at += 1
        return "".join(text)

    def _ansi_escape(self) -> str:
        here = self._peek()
        if found := _NUMBERED.match(self._text, self._at):
            self._at = found.end()
            code = int(found[4], 8) & 0xFF if found[4] else int(found[1] or found[2] or found[3], 16)
            if not 0 < code < 0x80:
                self._fail("an escape does not stand for a plain character")
            return chr(code)
        self._at += 1
        if here in _ESCAPES:
            return _ESCAPES[here]
        if here not in ("\\", '"', "?"):
            # Some shells do not know `$'…'` and end the quote at `\'`.
            self._fail("an escape is not understood")
        return here

    def _backticks(self) -> None:
        end = self._at + 1
        inner: list[str] = []
        while end < len(self._text) and self._text[end] != "`":
            if self._text.startswith('\\"', end):
                self._fail("a quote within backticks is not certain")  # it depends on what is around them
            if self._text[end] == "\\" and self._text[end + 1 : end + 2] in ("`", "\\", "$"):
                end += 1
            inner.append(self._text[end])
            end += 1
        if end >= len(self._text):
            self._fail("a backtick is not closed")
        self._at = end + 1
        _Reader("".join(inner), self._script, self._depth + 1).read()

    # -- characters ---------------------------------------------------------------------------

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip_blanks(self) -> None:
        while self._text.startswith((" ", "\t", "\\\n"), self._at):
            self._at += 2 if self._text[self._at] == "\\" else 1

    def _skip(self, pattern: re.Pattern[str], problem: str) -> None:
        found = pattern.match(self._text, self._at)
        if found is None:
            self._fail(problem)
        self._at = found.end()

    def _end_of_line(self) -> int:
        end = self._text.find("\n", self._at)
        return len(self._text) if end < 0 else end

    def _fail(self, problem: str) -> NoReturn:
        raise Unclear(problem)
