"""The calls of one thread: their arguments, previews and results, and the requests about them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from ...schema.events import AskedQuestion, Choice
from ...schema.items import ContentPart, arguments_of
from .conversation import OpenCodeConversation
from .events import CallRef, PermissionAsked, QuestionAsked
from .messages import Completed, Failed, FilePart, Pending, Running, ToolMetadata, ToolPart, lenient
from .permissions import ASKED_QUIETLY, ask_of
from .tools import changes_of, data_of, kind_of

MAX_ASKED = 4096
"""How many requests we remember by their ids."""
REJECTED_TOGETHER = "rejected together with another call"
_ABORTED_COMMAND = "User aborted the command"  # the end of a command's output if an abort killed it


class Calls:
    def __init__(self, conversation: OpenCodeConversation, outlive_turn: Callable[[], bool]) -> None:
        self._conversation = conversation
        self._scribe = conversation.scribe
        self._outlive_turn = outlive_turn
        self._parts: dict[str, ToolPart] = {}  # by part id, as last seen
        self._outputs: dict[str, str] = {}
        self._diffs: dict[str, str] = {}  # part id -> the diff shown in a permission request
        self._early_asks: dict[str, PermissionAsked] = {}  # by the part id of their call
        self._asked: dict[str, None] = {}  # permissions and questions of all turns, oldest first

    def clear(self) -> None:
        """The turn is over."""
        for open_ones in (self._parts, self._outputs, self._diffs, self._early_asks):
            open_ones.clear()

    def running_task(self) -> str | None:
        tasks = [
            key
            for key, part in self._parts.items()
            if part.tool == "task" and self._scribe.has_open_call(key)
        ]
        return tasks[-1] if tasks else None

    def cut_off(self) -> None:
        """The model is called again: calls in progress are abandoned."""
        for key, part in self._parts.items():
            if isinstance(part.state, Pending) and self._scribe.has_open_call(key):
                self._scribe.result(key, "the model's answer was cut off", failed=True, source="daemon")

    # -- calls and results --------------------------------------------------------------------

    def tell(self, part: ToolPart, parent: str | None) -> None:
        self._parts[part.id] = part
        if isinstance(part.state, Pending):
            self._scribe.call(
                part.id,
                self._name(part),
                kind=kind_of(_tool(part)),
                call_id=part.callID,
                native_id=part.id,
                parent=parent,
                outlives_turn=self._outlive_turn(),
            )
            return
        self._complete(part, parent)
        self._note_plan(part)
        if (asked := self._early_asks.get(part.id)) is not None:
            self._tell_ask(asked, part)
            del self._early_asks[part.id]
        self._tell_result(part)

    def _complete(self, part: ToolPart, parent: str | None) -> None:
        name, given = self._name(part), part.state.input
        self._scribe.end_call(
            part.id,
            name,
            arguments_of(given),
            kind=kind_of(_tool(part)),
            title=self._conversation.title_of(_tool(part), given),
            call_id=part.callID,
            native_id=part.id,
            parent=parent,
            outlives_turn=self._outlive_turn(),
        )

    def _tell_result(self, part: ToolPart) -> None:
        metadata = lenient(part.state.metadata, ToolMetadata, ToolMetadata())
        match part.state:
            case Running() as state:
                if bytes(state.metadata) != b"{}":
                    self._scribe.start_result(part.id)
                self._preview(part.id, metadata.output)
            case Completed(output=output):
                interrupted = _ABORTED_COMMAND in output[-200:] and metadata.exit is None
                # A denied or unknown tool is reported as one that ran and failed.
                failed = part.tool == "invalid" or (part.tool == "bash" and interrupted)
                extra = [] if failed else changes_of(part, metadata, self._diffs.get(part.id))
                extra += [image for file in part.state.attachments for image in self._image(file)]
                self._scribe.result(part.id, output, exit_code=metadata.exit, extra=extra, failed=failed)
            case Failed(error=error):
                self._scribe.result(part.id, error, failed=True)

    def _name(self, part: ToolPart) -> str:
        return self._conversation.tool_name(_tool(part))

    def _preview(self, key: str, output: str | None) -> None:
        """The output so far is repeated each time; a delta is what follows the last one."""
        before = self._outputs.get(key, "")
        if output and output.startswith(before):
            self._outputs[key] = output
            self._scribe.result_delta(key, output[len(before) :])

    def _image(self, file: FilePart) -> list[ContentPart]:
        data = data_of(file.url) if file.mime and file.mime.startswith("image/") else None
        return [] if data is None or file.mime is None else [self._scribe.image(data, file.mime)]

    # -- permissions and questions ------------------------------------------------------------

    def ask(self, asked: PermissionAsked) -> None:
        if not self._is_new_request(asked.id):
            return
        call = self._find(asked.tool)
        if self._is_allowed_quietly(asked):
            self._allow(asked, call)
        elif call and isinstance(call.state, Pending) and bytes(asked.metadata) == b"{}":
            # Nothing to show yet: the request has overtaken the arguments of its call.
            self._early_asks[call.id] = asked
        else:
            self._tell_ask(asked, call)

    def _is_allowed_quietly(self, asked: PermissionAsked) -> bool:
        allows_all = self._conversation.settings.permission_mode == "bypass"
        return allows_all and asked.permission == ASKED_QUIETLY.permission

    def _allow(self, asked: PermissionAsked, call: ToolPart | None) -> None:
        if call:
            ask = ask_of(asked, call, self._name(call), asked.permission)
            self._scribe.calls.changes.expect(call.id, ask.paths or ())
            if ask.diff:
                self._diffs[call.id] = ask.diff
        self._conversation.allow(asked.id)

    def _tell_ask(self, asked: PermissionAsked, call: ToolPart | None) -> None:
        permission = self._conversation.tool_name(asked.permission)
        ask = ask_of(asked, call, self._name(call) if call else permission, permission)
        title = self._conversation.title_of(_tool(call) if call else asked.permission, ask.input)
        ask = structs.replace(ask, title=title)
        if call and ask.diff:
            self._diffs[call.id] = ask.diff
        self._scribe.ask(asked.id, ask)

    def reject_others(self, key: str) -> None:
        """A rejection rejects all open requests of its session."""
        if key in self._asked:
            for other in self._scribe.pending:
                if other != key and other in self._asked:
                    self._scribe.decide(other, "reject", "agent", REJECTED_TOGETHER, source="agent")

    def take_unasked(self, frame: bytes) -> list[str]:
        """The permissions that waited for the arguments of a call, which arrived in this frame and cannot be
        read.
        """
        parts = [part_id for part_id in self._early_asks if part_id.encode() in frame]
        return [self._early_asks.pop(part_id).id for part_id in parts]

    def question(self, asked: QuestionAsked) -> None:
        if not self._is_new_request(asked.id):
            return
        call = self._find(asked.tool)
        key = call.id if call else None
        if call and call.tool == "plan_exit" and asked.questions:
            self._conversation.plans.add(asked.id)
            self._scribe.plan(asked.id, self._plan_text() or asked.questions[0].question, call=key)
            return
        questions = [
            AskedQuestion(
                question.question,
                question.header,
                tuple(Choice(option.label, option.description) for option in question.options),
                question.multiple,
            )
            for question in asked.questions
        ]
        self._scribe.question(asked.id, questions, call=key)

    def _note_plan(self, part: ToolPart) -> None:
        path, content = part.state.input.get("filePath"), part.state.input.get("content")
        plan = self._conversation.plan
        if plan.file and isinstance(path, str) and path.endswith(plan.file):
            plan.path = path
            plan.written = content if isinstance(content, str) else plan.written

    def _plan_text(self) -> str:
        """The question only names the file with the plan."""
        plan = self._conversation.plan
        path = plan.path or f"{self._conversation.directory}/.opencode/{plan.file}"
        state = self._scribe.pen.world.look(path)
        text = state.data.decode(errors="replace") if state and state.data else plan.written
        return text.strip()

    def _is_new_request(self, key: str) -> bool:
        """The server keeps listing a request after an abort has ended its turn: ask each only once."""
        if key in self._asked or (self._scribe.turn is None and not self._outlive_turn()):
            return False
        self._asked[key] = None
        if len(self._asked) > MAX_ASKED:
            del self._asked[next(iter(self._asked))]
        return True

    def _find(self, ref: CallRef | None) -> ToolPart | None:
        if ref is None:
            return None
        for part in reversed(self._parts.values()):
            if (part.messageID, part.callID) == (ref.messageID, ref.callID):
                return part
        return None


def _tool(part: ToolPart) -> str:
    """The tool the model meant: a call that cannot be made continues under the name `invalid`."""
    tool = part.state.input.get("tool") if part.tool == "invalid" else None
    return tool if isinstance(tool, str) else part.tool
