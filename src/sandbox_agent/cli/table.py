"""Generated from the table of operations, `Config` and the registry of agents: `make gen` rewrites it."""

# fmt: off
# ruff: noqa: RUF100

from __future__ import annotations

from .command import Argument, Command

AGENTS: tuple[tuple[str, str], ...] = (
    ('amp', 'Amp'),
    ('claude', 'Claude Code'),
    ('codex', 'Codex'),
    ('mock', 'Mock'),
    ('opencode', 'OpenCode'),
    ('pi', 'Pi'),
)

GROUPS: dict[str, str] = {
    'agents': 'Agents: list, install, what they offer.',
    'sessions': 'Sessions: create, talk, read, end.',
    'permissions': 'Permissions that wait for an answer.',
    'questions': 'Questions that wait for an answer.',
    'attachments': 'Files that go with messages.',
    'events': 'The events of all sessions.',
    'changes': 'What a session has changed in its directory, and the way back.',
    'fs': "Files of the daemon's machine: list, read, write, search, watch.",
    'processes': 'Processes of the sandbox, and terminals.',
    'system': 'Health and figures of the daemon.',
}

COMMANDS: tuple[Command, ...] = (
    Command(
        'agents', 'list', (), 'GET', '/v1/agents', 'List the agents: installed or not, version, credentials, capabilities.', '', 'json', '',
        (),
        "sandbox-agent agents list\nsandbox-agent agents list --json | jq -r '.agents[].id'",
    ),
    Command(
        'agents', 'install', (), 'POST', '/v1/agents/{agent}/install', 'Install an agent, or say where it is.', 'A client that accepts `text/event-stream` sees it come: frames named `progress`, then one named `result` with the\nanswer, or `problem` with what went wrong.', 'json', '',
        (
            Argument('agent', 'string', 'path', 'agent', 'Which agent, e.g. `claude`.', required=True),
            Argument('reinstall', 'switch', 'body', 'reinstall', 'Install again even if it is there.'),
            Argument('agent_version', 'string', 'body', 'agentVersion', 'Version to install, or `latest`. Without one any that is there will do, and the tested one is fetched.'),
        ),
        'sandbox-agent agents install codex',
    ),
    Command(
        'agents', 'modes', (), 'GET', '/v1/agents/{agent}/modes', "List an agent's modes in a directory.", '', 'json', '',
        (
            Argument('agent', 'string', 'path', 'agent', 'Which agent, e.g. `claude`.', required=True),
            Argument('directory', 'string', 'query', 'directory', "Where the agent would run; the daemon's own folder when absent."),
        ),
        '',
    ),
    Command(
        'agents', 'models', (), 'GET', '/v1/agents/{agent}/models', "List an agent's models and their variants in a directory.", '', 'json', '',
        (
            Argument('agent', 'string', 'path', 'agent', 'Which agent, e.g. `claude`.', required=True),
            Argument('directory', 'string', 'query', 'directory', "Where the agent would run; the daemon's own folder when absent."),
        ),
        'sandbox-agent agents models opencode --directory /srv/project',
    ),
    Command(
        'sessions', 'create', (), 'POST', '/v1/sessions/{session_id}', 'Create a session under an id of yours and start its agent.', 'A session whose agent is installed but cannot be started is created, ended and answered with `healthy: false`.', 'json', '',
        (
            Argument('agent', 'string', 'body', 'agent', 'Which agent to run, e.g. `claude`.', required=True),
            Argument('agent_mode', 'string', 'body', 'agentMode', 'What it does: `build` (default), `plan`, or one it reports.'),
            Argument('permission_mode', 'string', 'body', 'permissionMode', 'What it may do: `default` asks before it writes or runs, `acceptEdits` does not ask for plain edits inside the directory, `plan` is read-only, `bypass` asks nothing. Default: default.', choices=('acceptEdits', 'bypass', 'default', 'plan')),
            Argument('model', 'string', 'body', 'model', 'The model behind it.'),
            Argument('variant', 'string', 'body', 'variant', 'A variant of the model, e.g. its reasoning effort.'),
            Argument('agent_version', 'string', 'body', 'agentVersion', 'Which version of the agent to run.'),
            Argument('directory', 'string', 'body', 'directory', "Absolute path it works in; the daemon's own folder when absent."),
            Argument('title', 'string', 'body', 'title', 'A name to show.'),
            Argument('env', 'pairs', 'body', 'env', 'Variables for the agent; stored for the owner alone, never returned.'),
            Argument('mcp', 'mcp', 'body', 'mcp', 'MCP servers by name.'),
            Argument('turn_timeout_ms', 'integer', 'body', 'turnTimeoutMs', 'End a turn that takes longer; off when absent.'),
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        "sandbox-agent sessions create demo --agent claude --permission-mode acceptEdits\nsandbox-agent sessions create --agent mock --env DEBUG=1 --env API_KEY\nsandbox-agent sessions create docs --agent codex --mcp files='npx some-server /srv' --mcp web=https://host/mcp",
    ),
    Command(
        'sessions', 'new', (), 'POST', '/v1/sessions', 'Create a session under an id that the daemon makes.', '', 'json', '',
        (
            Argument('agent', 'string', 'body', 'agent', 'Which agent to run, e.g. `claude`.', required=True),
            Argument('agent_mode', 'string', 'body', 'agentMode', 'What it does: `build` (default), `plan`, or one it reports.'),
            Argument('permission_mode', 'string', 'body', 'permissionMode', 'What it may do: `default` asks before it writes or runs, `acceptEdits` does not ask for plain edits inside the directory, `plan` is read-only, `bypass` asks nothing. Default: default.', choices=('acceptEdits', 'bypass', 'default', 'plan')),
            Argument('model', 'string', 'body', 'model', 'The model behind it.'),
            Argument('variant', 'string', 'body', 'variant', 'A variant of the model, e.g. its reasoning effort.'),
            Argument('agent_version', 'string', 'body', 'agentVersion', 'Which version of the agent to run.'),
            Argument('directory', 'string', 'body', 'directory', "Absolute path it works in; the daemon's own folder when absent."),
            Argument('title', 'string', 'body', 'title', 'A name to show.'),
            Argument('env', 'pairs', 'body', 'env', 'Variables for the agent; stored for the owner alone, never returned.'),
            Argument('mcp', 'mcp', 'body', 'mcp', 'MCP servers by name.'),
            Argument('turn_timeout_ms', 'integer', 'body', 'turnTimeoutMs', 'End a turn that takes longer; off when absent.'),
        ),
        '',
    ),
    Command(
        'sessions', 'list', (), 'GET', '/v1/sessions', 'List sessions, newest first.', '', 'json', '',
        (
            Argument('limit', 'integer', 'query', 'limit', 'How many to a page. Default: 100.'),
            Argument('cursor', 'string', 'query', 'cursor', '`nextCursor` of the page before.'),
        ),
        '',
    ),
    Command(
        'sessions', 'get', (), 'GET', '/v1/sessions/{session_id}', 'Show a session.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'sessions', 'update', (), 'PATCH', '/v1/sessions/{session_id}', 'Rename a session, or switch its model, variant or modes; at run time where the agent can.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('title', 'string', 'body', 'title', 'A name to show.'),
            Argument('model', 'string', 'body', 'model', 'The model behind it.'),
            Argument('variant', 'string', 'body', 'variant', 'A variant of the model, e.g. its reasoning effort.'),
            Argument('agent_mode', 'string', 'body', 'agentMode', 'What it does: `build` (default), `plan`, or one it reports.'),
            Argument('permission_mode', 'string', 'body', 'permissionMode', 'What it may do: `default` asks before it writes or runs, `acceptEdits` does not ask for plain edits inside the directory, `plan` is read-only, `bypass` asks nothing.', choices=('acceptEdits', 'bypass', 'default', 'plan')),
        ),
        'sandbox-agent sessions update demo --title "Release" --permission-mode plan',
    ),
    Command(
        'sessions', 'delete', (), 'DELETE', '/v1/sessions/{session_id}', 'Terminate a session and forget it.', '', 'nothing', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'sessions', 'send-message', (), 'POST', '/v1/sessions/{session_id}/messages', 'Send a message; answered as soon as it is durable. While a turn runs it waits in the queue.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('message', 'string', 'body', 'message', 'The prompt; on the command line `-` reads it from stdin.', required=True),
            Argument('attachments', 'attachments', 'body', 'attachments', 'Files that go with it.'),
            Argument('fresh', 'switch', 'body', 'fresh', "Start a new conversation if the agent's own is gone."),
            Argument('idempotency_key', 'string', 'header', 'Idempotency-Key', 'The same key gives the same turn.'),
            Argument('command', 'switch', 'body', 'command', 'The message is a command of the agent, e.g. `/compact`. Else a `/` is text.'),
        ),
        'sandbox-agent sessions send-message demo "hello"\ngit diff | sandbox-agent sessions send-message demo --attach screenshot.png',
    ),
    Command(
        'sessions', 'cancel', (), 'POST', '/v1/sessions/{session_id}/cancel', 'End the running turn and keep the session; the next queued message then starts.', '', 'nothing', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'sessions', 'terminate', (), 'POST', '/v1/sessions/{session_id}/terminate', 'End the session and every process it started.', '', 'nothing', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'sessions', 'suspend', (), 'POST', '/v1/sessions/{session_id}/suspend', 'Stop the process of an idle agent; the next message resumes the conversation.', 'The daemon does the same after `--idle-seconds`. Nothing happens while a turn runs or a message waits, nor to an agent that could\nnot go on with its conversation.', 'nothing', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'sessions', 'queue', (), 'GET', '/v1/sessions/{session_id}/queue', 'Show the messages that wait, oldest first.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('limit', 'integer', 'query', 'limit', 'How many at most. Default: 50.'),
            Argument('cursor', 'string', 'query', 'cursor', '`nextCursor` of the page before.'),
        ),
        '',
    ),
    Command(
        'sessions', 'withdraw', (), 'DELETE', '/v1/sessions/{session_id}/queue/{turn_id}', 'Withdraw a message that waits.', '', 'nothing', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('turn_id', 'string', 'path', 'turn_id', 'The turn that waits.', required=True),
        ),
        '',
    ),
    Command(
        'permissions', 'list', (), 'GET', '/v1/sessions/{session_id}/permissions', 'Show the permissions that wait for an answer.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'questions', 'list', (), 'GET', '/v1/sessions/{session_id}/questions', 'Show the questions that wait for an answer.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'permissions', 'reply', (), 'POST', '/v1/sessions/{session_id}/permissions/{permission_id}/reply', 'Answer a permission; the second answer gets a conflict.', '', 'nothing', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('permission_id', 'string', 'path', 'permission_id', 'The permission that waits.', required=True),
            Argument('reply', 'string', 'body', 'reply', '`once`, `always` (for this session) or `reject`.', required=True, choices=('accept', 'accept_for_session', 'always', 'approved', 'denied', 'once', 'reject')),
            Argument('message', 'string', 'body', 'message', 'Something to tell the agent with it.'),
        ),
        'sandbox-agent permissions list demo\nsandbox-agent permissions reply demo perm_1 --reply once\nsandbox-agent permissions reply demo perm_1 --reply reject --message "use git mv"',
    ),
    Command(
        'questions', 'reply', (), 'POST', '/v1/sessions/{session_id}/questions/{question_id}/reply', 'Answer a question; the second answer gets a conflict.', '', 'nothing', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('question_id', 'string', 'path', 'question_id', 'The question that waits.', required=True),
            Argument('answers', 'answers', 'body', 'answers', 'Per question the chosen labels; free text is allowed.', required=True),
        ),
        'sandbox-agent questions list demo\nsandbox-agent questions reply demo q_1 --answer Red\nsandbox-agent questions reply demo q_2 --answer Small --answer "Cheese,Basil"\nsandbox-agent questions reply demo q_2 --answers \'[["Small"],["one, with a comma"]]\'',
    ),
    Command(
        'questions', 'reject', (), 'POST', '/v1/sessions/{session_id}/questions/{question_id}/reject', 'Refuse to answer a question.', '', 'nothing', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('question_id', 'string', 'path', 'question_id', 'The question that waits.', required=True),
        ),
        '',
    ),
    Command(
        'attachments', 'upload', (), 'POST', '/v1/sessions/{session_id}/attachments', 'Upload a file for use in a message.', '', 'json', 'application/octet-stream',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('content', 'file', 'content', 'content', "The file's bytes; on the command line, its path.", required=True),
            Argument('filename', 'string', 'query', 'filename', "The file's name."),
            Argument('content_type', 'string', 'header', 'Content-Type', 'Its media type.'),
        ),
        'sandbox-agent attachments upload demo screenshot.png',
    ),
    Command(
        'attachments', 'get', (), 'GET', '/v1/sessions/{session_id}/attachments/{name}', 'Read an attachment back.', '', 'content', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('name', 'string', 'path', 'name', "The last part of the attachment's path.", required=True),
        ),
        'path=$(sandbox-agent attachments upload demo screenshot.png --json | jq -r .path)\nsandbox-agent attachments get demo "${path##*/}" --output copy.png',
    ),
    Command(
        'changes', 'list', (), 'GET', '/v1/sessions/{session_id}/changes', "Show what has changed in the session's directory since the session began, file by file.", 'In a git repository the directory is compared with a snapshot of its beginning, uncommitted changes included. Elsewhere the\nchanges are those that the agent told. What .gitignore leaves out is not looked at. Binary files, and those above 4 MiB, are\ntold by their size only.', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        "sandbox-agent changes list demo\nsandbox-agent changes list demo --json | jq -r '.files[].diff' | less",
    ),
    Command(
        'changes', 'revert', (), 'POST', '/v1/sessions/{session_id}/changes/revert', 'Give files back as they were when the session began. `undo` brings back what was overwritten or removed.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('paths', 'list', 'body', 'paths', 'Which files, as `changes` names them; or say `all`.'),
            Argument('all', 'switch', 'body', 'all', 'Every file that has changed.'),
            Argument('etags', 'pairs', 'body', 'etags', 'By path, the tags that `changes` showed: a file that has another by now is refused.'),
        ),
        'sandbox-agent changes revert demo --paths src/main.py\nsandbox-agent changes revert demo --all',
    ),
    Command(
        'changes', 'undo', (), 'POST', '/v1/sessions/{session_id}/changes/undo', 'Take the last revert back.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'sessions', 'commands', (), 'GET', '/v1/sessions/{session_id}/commands', 'List the slash commands and prompt templates that the agent offers in this session.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
        ),
        '',
    ),
    Command(
        'sessions', 'run-command', (), 'POST', '/v1/sessions/{session_id}/commands/{name}', 'Run a command of the agent as a turn. Like a message, it waits in the queue while another turn runs.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('name', 'string', 'path', 'name', "The command's name, without its slash and without spaces.", required=True),
            Argument('arguments', 'string', 'body', 'arguments', 'What follows the name.'),
            Argument('fresh', 'switch', 'body', 'fresh', "Start a new conversation if the agent's own is gone."),
            Argument('idempotency_key', 'string', 'header', 'Idempotency-Key', 'The same key gives the same turn.'),
        ),
        '',
    ),
    Command(
        'sessions', 'compact', (), 'POST', '/v1/sessions/{session_id}/compact', 'Replace the conversation so far by a summary of it, as a turn. Refused where the agent cannot do so on request.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('idempotency_key', 'string', 'header', 'Idempotency-Key', 'The same key gives the same turn.'),
        ),
        '',
    ),
    Command(
        'sessions', 'events', ('get-messages',), 'GET', '/v1/sessions/{session_id}/events', 'Read events after an offset, oldest first.', '', 'json', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('offset', 'integer', 'query', 'offset', 'Sequence of the last event already seen. Default: 0.'),
            Argument('limit', 'integer', 'query', 'limit', 'How many at most; a page is also bounded in bytes. Default: 100.'),
            Argument('include_raw', 'switch', 'query', 'includeRaw', 'Give each event the native payload that caused it.'),
        ),
        'sandbox-agent sessions events demo --offset 3\nsandbox-agent sessions events demo | jq .type',
    ),
    Command(
        'sessions', 'events-sse', (), 'GET', '/v1/sessions/{session_id}/events/sse', 'Stream events after an offset, then every new one, until the session ends.', 'A frame named `end` says that there is nothing more to come. A reader that has everything of an ended session gets 204.', 'stream', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('offset', 'integer', 'query', 'offset', 'Sequence of the last event already seen. Default: 0.'),
            Argument('include_raw', 'switch', 'query', 'includeRaw', 'Give each event the native payload that caused it.'),
            Argument('last_event_id', 'string', 'header', 'Last-Event-ID', 'What a reconnecting reader saw last; wins over `offset`.'),
        ),
        'sandbox-agent sessions events-sse demo',
    ),
    Command(
        'events', 'sse', (), 'GET', '/v1/events/sse', 'Stream the events of all sessions, and frames named `session` when one is created, changed or deleted.', 'The stream begins with an id alone: where the log is. A reader that is cut off before the first event goes on from there.', 'stream', '',
        (
            Argument('offset', 'integer', 'query', 'offset', 'Position in the whole log; now when absent.'),
            Argument('last_event_id', 'string', 'header', 'Last-Event-ID', 'What a reconnecting reader saw last; wins over `offset`.'),
        ),
        "sandbox-agent events sse | jq -c '[.session_id, .type]'",
    ),
    Command(
        'sessions', 'stream-message', (), 'POST', '/v1/sessions/{session_id}/messages/stream', 'Send a message and stream the events of its turn until it ends.', '', 'stream', '',
        (
            Argument('session_id', 'string', 'path', 'session_id', "The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -", required=True),
            Argument('message', 'string', 'body', 'message', 'The prompt; on the command line `-` reads it from stdin.', required=True),
            Argument('attachments', 'attachments', 'body', 'attachments', 'Files that go with it.'),
            Argument('fresh', 'switch', 'body', 'fresh', "Start a new conversation if the agent's own is gone."),
            Argument('idempotency_key', 'string', 'header', 'Idempotency-Key', 'The same key gives the same turn.'),
            Argument('command', 'switch', 'body', 'command', 'The message is a command of the agent, e.g. `/compact`. Else a `/` is text.'),
        ),
        'sandbox-agent sessions stream-message demo "hello" | jq -r .type',
    ),
    Command(
        'fs', 'entries', (), 'GET', '/v1/fs/entries', 'List a folder, sorted by name: all of it as a list, or with `limit` page by page.', '', 'json', '',
        (
            Argument('path', 'string', 'query', 'path', 'The folder; the one that relative paths start from when absent.', is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
            Argument('limit', 'integer', 'query', 'limit', 'How many to answer with, as a page; without it, all of them as a list.'),
            Argument('cursor', 'string', 'query', 'cursor', '`nextCursor` of the page before.'),
        ),
        'sandbox-agent fs entries /srv/project\nsandbox-agent fs entries --session-id demo src',
    ),
    Command(
        'fs', 'stat', (), 'GET', '/v1/fs/stat', 'Show what a path leads to.', '', 'json', '',
        (
            Argument('path', 'string', 'query', 'path', "Absolute, or relative to the session's directory; without a session, to the daemon user's home.", required=True, is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
        ),
        '',
    ),
    Command(
        'fs', 'read', (), 'GET', '/v1/fs/file', 'Read a file, or a range of it.', '', 'content', '',
        (
            Argument('path', 'string', 'query', 'path', "Absolute, or relative to the session's directory; without a session, to the daemon user's home.", required=True, is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
            Argument('range', 'string', 'header', 'Range', 'A part of the file, e.g. `bytes=0-99`.'),
            Argument('if_none_match', 'string', 'header', 'If-None-Match', 'Answer 304 where the file still has this tag.'),
            Argument('if_range', 'string', 'header', 'If-Range', 'Heed `Range` only where the file still has this tag.'),
        ),
        'sandbox-agent fs read --session-id demo README.md\nsandbox-agent fs read core.bin --range bytes=0-1023 --output head.bin',
    ),
    Command(
        'fs', 'download', (), 'GET', '/v1/fs/download', 'Download a folder as an archive, packed while it is sent.', "Links are packed as links. Sockets, pipes, devices, what the daemon's user cannot read and the daemon's own files are left out.", 'content', '',
        (
            Argument('path', 'string', 'query', 'path', 'The folder; the one that relative paths start from when absent.', is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
            Argument('format', 'string', 'query', 'format', 'The kind of archive. Default: tar.', choices=('tar', 'zip')),
        ),
        'sandbox-agent fs download /srv/project | tar x\nsandbox-agent fs download --session-id demo src --format zip --output src.zip',
    ),
    Command(
        'fs', 'search', (), 'GET', '/v1/fs/search', 'Search names and contents below a folder. `truncated` says that there may be more.', 'Binary files, and what is past the first 64 MiB of a file, are not searched.', 'json', '',
        (
            Argument('path', 'string', 'query', 'path', 'The folder; the one that relative paths start from when absent.', is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
            Argument('glob', 'string', 'query', 'glob', 'Which names, as in .gitignore: `*.py` at any depth, `src/**/test_*`.'),
            Argument('text', 'string', 'query', 'text', 'Only files that hold this text; each line that does is a hit.'),
            Argument('regex', 'string', 'query', 'regex', 'The same with a regular expression, as Python has them.'),
            Argument('ignore_case', 'switch', 'query', 'ignoreCase', 'Take a and A for the same.'),
            Argument('ignored', 'switch', 'query', 'ignored', 'Also what .gitignore leaves out.'),
            Argument('limit', 'integer', 'query', 'limit', 'How many hits at most. Default: 200.'),
            Argument('timeout_ms', 'integer', 'query', 'timeoutMs', 'How long to search at most. Default: 10000.'),
        ),
        "sandbox-agent fs search --session-id demo --glob '*.py' --text TODO\nsandbox-agent fs search /srv/project --regex 'def test_\\w+'",
    ),
    Command(
        'fs', 'watch', (), 'GET', '/v1/fs/watch', 'Stream the changes below a folder from now on.', 'Each frame is a change: `path`, `change` (`created`, `modified`, `deleted`) and `entryType`. A frame named `lost` says that not\nevery change is told, because there were too many at once or there are too many folders: look again at what you show.', 'stream', '',
        (
            Argument('path', 'string', 'query', 'path', 'The folder; the one that relative paths start from when absent.', is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
        ),
        'sandbox-agent fs watch --session-id demo',
    ),
    Command(
        'fs', 'write', (), 'PUT', '/v1/fs/file', "Write a file, whole or not at all. Missing folders are made; a link's target is written, and its mode kept.", '', 'json', 'application/octet-stream',
        (
            Argument('path', 'string', 'query', 'path', "Absolute, or relative to the session's directory; without a session, to the daemon user's home.", required=True, is_word=True),
            Argument('content', 'file', 'content', 'content', "The file's bytes; on the command line, the path of a file here.", required=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
            Argument('if_match', 'string', 'header', 'If-Match', 'Write only where the file still has this tag; `*`: only where there is one.'),
        ),
        'sandbox-agent fs write /srv/project/notes.md notes.md\ndate | sandbox-agent fs write --session-id demo now.txt -',
    ),
    Command(
        'fs', 'delete', (), 'DELETE', '/v1/fs/entry', 'Delete a file, a link itself, or a folder.', '', 'json', '',
        (
            Argument('path', 'string', 'query', 'path', "Absolute, or relative to the session's directory; without a session, to the daemon user's home.", required=True, is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
            Argument('recursive', 'switch', 'query', 'recursive', 'Also a folder that is not empty.'),
        ),
        '',
    ),
    Command(
        'fs', 'mkdir', (), 'POST', '/v1/fs/mkdir', 'Make a folder and those above it; one that exists is fine.', '', 'json', '',
        (
            Argument('path', 'string', 'query', 'path', "Absolute, or relative to the session's directory; without a session, to the daemon user's home.", required=True, is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
        ),
        '',
    ),
    Command(
        'fs', 'move', (), 'POST', '/v1/fs/move', 'Move a file, a link itself, or a folder to another path on the same file system.', '', 'json', '',
        (
            Argument('source', 'string', 'body', 'from', 'What to move.', required=True, is_word=True),
            Argument('target', 'string', 'body', 'to', 'Its new path. Folders that are missing are made.', required=True, is_word=True),
            Argument('overwrite', 'switch', 'body', 'overwrite', 'Replace what is there.'),
            Argument('session_id', 'string', 'body', 'sessionId', 'The session whose directory relative paths start from.'),
        ),
        '',
    ),
    Command(
        'fs', 'upload-batch', (), 'POST', '/v1/fs/upload-batch', 'Upload a tar archive and unpack it to a folder.', 'An archive that names anything outside of the folder is refused before anything is written: `..`, absolute names, links that\nleave, names that lead through a link, devices.', 'json', 'application/x-tar',
        (
            Argument('content', 'file', 'content', 'content', 'A tar archive; on the command line, the path of one here.', required=True),
            Argument('path', 'string', 'query', 'path', 'The folder to unpack to; it is made.', is_word=True),
            Argument('session_id', 'string', 'query', 'sessionId', 'The session whose directory relative paths start from.'),
        ),
        'tar c src | sandbox-agent fs upload-batch - /srv/project',
    ),
    Command(
        'processes', 'list', (), 'GET', '/v1/processes', 'List the processes: those that run, and those that have ended.', '', 'json', '',
        (
            Argument('owner', 'string', 'query', 'owner', 'Only those that this owner started.', choices=('desktop', 'system', 'user')),
        ),
        '',
    ),
    Command(
        'processes', 'create', (), 'POST', '/v1/processes', 'Start a process that runs until it ends, is ended, or the daemon stops.', 'When its program exits, whatever it started and left behind ends, too.', 'json', '',
        (
            Argument('command', 'string', 'body', 'command', 'The program: a path, or a name that is looked for on PATH.', required=True),
            Argument('args', 'list', 'body', 'args', 'Its arguments.'),
            Argument('cwd', 'string', 'body', 'cwd', "Where it runs; the daemon's own folder when absent."),
            Argument('env', 'pairs', 'body', 'env', "Variables besides the daemon's own."),
            Argument('tty', 'switch', 'body', 'tty', 'Run it on a terminal of its own.'),
            Argument('cols', 'integer', 'body', 'cols', 'Columns of the terminal. Default: 80.'),
            Argument('rows', 'integer', 'body', 'rows', 'Rows of the terminal. Default: 24.'),
            Argument('interactive', 'switch', 'body', 'interactive', 'Say that somebody will type; input is taken either way.'),
            Argument('hold', 'switch', 'body', 'hold', 'Drop no output that nobody has read: when the log is full, the process waits for a reader who follows it.'),
        ),
        'sandbox-agent processes create --command npm --args run --args dev --cwd /srv/app\nsandbox-agent processes create --command bash --tty',
    ),
    Command(
        'processes', 'run', (), 'POST', '/v1/processes/run', 'Run a program to its end, and answer with what it wrote.', 'Its input is empty. At the time limit it is killed, with everything that it started.', 'json', '',
        (
            Argument('command', 'string', 'body', 'command', 'The program: a path, or a name that is looked for on PATH.', required=True),
            Argument('args', 'list', 'body', 'args', 'Its arguments.'),
            Argument('cwd', 'string', 'body', 'cwd', "Where it runs; the daemon's own folder when absent."),
            Argument('env', 'pairs', 'body', 'env', "Variables besides the daemon's own."),
            Argument('timeout_ms', 'integer', 'body', 'timeoutMs', 'When to kill it, in milliseconds; `config` has the usual and the largest.'),
            Argument('max_output_bytes', 'integer', 'body', 'maxOutputBytes', 'How much of each stream to keep; `config` has the largest.'),
        ),
        'sandbox-agent processes run --command make --args test --timeout-ms 60000',
    ),
    Command(
        'processes', 'config', (), 'GET', '/v1/processes/config', 'Show the limits of processes.', '', 'json', '',
        (),
        '',
    ),
    Command(
        'processes', 'configure', (), 'POST', '/v1/processes/config', 'Set the limits of processes: all of them. They hold for what is started from now on.', '', 'json', '',
        (
            Argument('max_concurrent_processes', 'integer', 'body', 'maxConcurrentProcesses', 'How many processes may run at once; `run` does not count.', required=True),
            Argument('default_run_timeout_ms', 'integer', 'body', 'defaultRunTimeoutMs', 'How long `run` waits when nothing else is said.', required=True),
            Argument('max_run_timeout_ms', 'integer', 'body', 'maxRunTimeoutMs', 'How long `run` may be told to wait.', required=True),
            Argument('max_output_bytes', 'integer', 'body', 'maxOutputBytes', 'How much of each stream `run` keeps.', required=True),
            Argument('max_log_bytes_per_process', 'integer', 'body', 'maxLogBytesPerProcess', 'How much output of a process is kept; the oldest goes.', required=True),
            Argument('max_input_bytes_per_request', 'integer', 'body', 'maxInputBytesPerRequest', 'How much may be written to a process at once.', required=True),
        ),
        '',
    ),
    Command(
        'processes', 'get', (), 'GET', '/v1/processes/{process_id}', 'Show a process.', '', 'json', '',
        (
            Argument('process_id', 'string', 'path', 'process_id', 'Which process, e.g. `proc_1`.', required=True),
        ),
        '',
    ),
    Command(
        'processes', 'delete', (), 'DELETE', '/v1/processes/{process_id}', 'Forget a process that has ended, and what it wrote.', '', 'nothing', '',
        (
            Argument('process_id', 'string', 'path', 'process_id', 'Which process, e.g. `proc_1`.', required=True),
        ),
        '',
    ),
    Command(
        'processes', 'stop', (), 'POST', '/v1/processes/{process_id}/stop', 'Ask a process to end (SIGTERM), and wait for that. One that does not care goes on.', '', 'json', '',
        (
            Argument('process_id', 'string', 'path', 'process_id', 'Which process, e.g. `proc_1`.', required=True),
            Argument('wait_ms', 'integer', 'query', 'waitMs', 'How long to wait for the exit, in milliseconds; 2000 when absent.'),
        ),
        '',
    ),
    Command(
        'processes', 'kill', (), 'POST', '/v1/processes/{process_id}/kill', 'End a process and everything that it started (SIGKILL).', '', 'json', '',
        (
            Argument('process_id', 'string', 'path', 'process_id', 'Which process, e.g. `proc_1`.', required=True),
            Argument('wait_ms', 'integer', 'query', 'waitMs', 'How long to wait for the exit, in milliseconds; 2000 when absent.'),
        ),
        '',
    ),
    Command(
        'processes', 'logs', (), 'GET', '/v1/processes/{process_id}/logs', 'Read what a process wrote, or follow it.', 'A stream has frames named `log`, with the sequence of the entry as id, and ends with one named `end`. A reader that comes\nback with everything of a process that has ended gets 204.', 'json', '',
        (
            Argument('process_id', 'string', 'path', 'process_id', 'Which process, e.g. `proc_1`.', required=True),
            Argument('stream', 'string', 'query', 'stream', "Which output; both, or the terminal's, when absent.", choices=('combined', 'pty', 'stderr', 'stdout')),
            Argument('since', 'integer', 'query', 'since', 'Sequence of the last entry already seen. Default: 0.'),
            Argument('tail', 'integer', 'query', 'tail', 'Only the last so many entries.'),
            Argument('follow', 'switch', 'query', 'follow', 'Answer with a stream, which goes on until the process has ended.'),
            Argument('last_event_id', 'string', 'header', 'Last-Event-ID', 'What a reconnecting reader saw last; wins over `since`.'),
        ),
        'sandbox-agent processes logs proc_1 --tail 20\nsandbox-agent processes logs proc_1 --follow',
    ),
    Command(
        'processes', 'input', (), 'POST', '/v1/processes/{process_id}/input', 'Write to the input of a process, and wait until it is taken.', '', 'json', '',
        (
            Argument('process_id', 'string', 'path', 'process_id', 'Which process, e.g. `proc_1`.', required=True),
            Argument('data', 'string', 'body', 'data', 'What to write.', required=True),
            Argument('encoding', 'string', 'body', 'encoding', 'How `data` is spelled: `base64` (when absent), `utf8` or `text`.'),
            Argument('eof', 'switch', 'body', 'eof', 'Close the input behind it; a terminal gets Ctrl-D.'),
        ),
        'sandbox-agent processes input proc_1 --data yes --encoding utf8 --eof',
    ),
    Command(
        'processes', 'resize', (), 'POST', '/v1/processes/{process_id}/terminal/resize', 'Give the terminal of a process another size.', '', 'json', '',
        (
            Argument('process_id', 'string', 'path', 'process_id', 'Which process, e.g. `proc_1`.', required=True),
            Argument('cols', 'integer', 'body', 'cols', 'Columns.', required=True),
            Argument('rows', 'integer', 'body', 'rows', 'Rows.', required=True),
        ),
        '',
    ),
    Command(
        'processes', 'terminal', (), 'GET', '/v1/processes/{process_id}/terminal/ws', 'Look at the terminal of a process and type into it, over a WebSocket.', 'The recent output comes first. Several may look at once, and all may type.', 'dialogue', '',
        (
            Argument('process_id', 'string', 'path', 'process_id', 'Which process, e.g. `proc_1`.', required=True),
        ),
        'sandbox-agent processes terminal proc_1',
    ),
    Command(
        'system', 'health', (), 'GET', '/v1/health', 'Say that the daemon lives, and its version.', '', 'json', '',
        (),
        '',
    ),
    Command(
        'system', 'ready', (), 'GET', '/v1/ready', 'Say whether new work is taken: the log can be written and the daemon is not stopping.', '', 'json', '',
        (),
        '',
    ),
    Command(
        'system', 'metrics', (), 'GET', '/metrics', "Give figures in Prometheus' text format.", '', 'content', '',
        (),
        '',
    ),
)

SETTINGS: tuple[Argument, ...] = (
    Argument('host', 'string', 'body', 'host', 'Address to listen on. Default: 127.0.0.1.'),
    Argument('port', 'integer', 'body', 'port', 'Port to listen on; 0 picks a free one. Default: 2468.'),
    Argument('token', 'string', 'body', 'token', 'Token that clients must send.'),
    Argument('token_file', 'string', 'body', 'token_file', 'File that holds the token (recommended: a flag shows in process lists).'),
    Argument('no_token', 'switch', 'body', 'no_token', 'Serve loopback without a token: anyone on this machine can run code.'),
    Argument('insecure_no_token', 'switch', 'body', 'insecure_no_token', 'Serve any address without a token: anyone who can connect can run code.'),
    Argument('cors_allow_origin', 'list', 'body', 'cors_allow_origin', 'Origin that browsers may call from; repeatable.'),
    Argument('cors_allow_method', 'list', 'body', 'cors_allow_method', 'Method to allow; repeatable.'),
    Argument('cors_allow_header', 'list', 'body', 'cors_allow_header', 'Request header to allow; repeatable.'),
    Argument('cors_allow_credentials', 'switch', 'body', 'cors_allow_credentials', 'Let browsers send credentials.'),
    Argument('allow_host', 'list', 'body', 'allow_host', 'Host name that requests may carry besides the bound one; repeatable.'),
    Argument('no_bypass', 'switch', 'body', 'no_bypass', 'Refuse permissionMode `bypass`.'),
    Argument('data_dir', 'string', 'body', 'data_dir', 'Data directory (default ~/.local/share/sandbox-agent).'),
    Argument('database_url', 'string', 'body', 'database_url', 'Where the log lives: sqlite (default) or `memory:`, which forgets on exit.'),
    Argument('synchronous', 'string', 'body', 'synchronous', '`full` survives a power cut; `normal` only a crash of the daemon, and is faster. Default: full.', choices=('full', 'normal')),
    Argument('acp_agent', 'list', 'body', 'acp_agent', "NAME='command args': an agent that speaks ACP; repeatable. In the environment one per line."),
    Argument('acp_env', 'list', 'body', 'acp_env', "NAME=VARIABLE: let that ACP agent see a variable of the daemon's, or a family (`AWS_*`); repeatable."),
    Argument('no_processes', 'switch', 'body', 'no_processes', 'Run no processes and no terminals for clients; agents run as ever.'),
    Argument('no_install', 'switch', 'body', 'no_install', 'Fetch no agents: a session of one that is not there is refused.'),
    Argument('mirror', 'string', 'body', 'mirror', 'Folder or address to fetch agents from, and from nowhere else; laid out as docs/install.md says.'),
    Argument('idle_seconds', 'number', 'body', 'idle_seconds', "Stop an agent's process after this long without a turn; it is resumed when needed. Default: 600.0."),
    Argument('start_seconds', 'number', 'body', 'start_seconds', 'How long an agent may take to answer a start, a resume or a list. Default: 60.0.'),
    Argument('drain_seconds', 'number', 'body', 'drain_seconds', 'How long running turns may go on after SIGTERM. Default: 3.0.'),
    Argument('parent_pid', 'integer', 'body', 'parent_pid', 'The program that started this daemon: end when that program is gone.'),
    Argument('max_body_bytes', 'integer', 'body', 'max_body_bytes', 'Largest JSON body accepted; attachments may be 64 times as large. Default: 1048576.'),
    Argument('max_upload', 'string', 'body', 'max_upload', 'Largest file or archive that may be uploaded to a path, e.g. `500MiB` or `4GiB`. Default: 1GiB.'),
    Argument('fs_root', 'list', 'body', 'fs_root', 'Folder that file operations are bound to; repeatable. Everything when absent.'),
    Argument('log_level', 'string', 'body', 'log_level', 'What to log on stderr. Default: warning.', choices=('debug', 'error', 'info', 'warning')),
)
