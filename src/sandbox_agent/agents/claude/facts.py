"""Claude's system messages by their meaning to a reader: a status item with a label, or nothing.

Messages with more meaning (`init`, `status`, ...) are structs in `frames`; any other is an unknown item.
"""

from __future__ import annotations

FACTS = {
    "agents_killed": "task",
    "away_summary": "summary",
    "code_change_published": "files",
    "compact_boundary": "compaction",
    "elicitation_complete": "elicitation",
    "file_attachments_missing": "notice",
    "files_persisted": "files",
    "hook_progress": "hook",
    "hook_response": "hook",
    "hook_started": "hook",
    "informational": "notice",
    "instruction_size_warning": "notice",
    "memory_recall": "memory",
    "memory_saved": "memory",
    "model_consent_fallback": "model",
    "model_fallback": "model",
    "model_refusal_fallback": "refusal",
    "model_refusal_no_fallback": "refusal",
    "notification": "notice",
    "peer_message_hold": "notice",
    "permission_denied": "permission_denied",
    "permission_retry": "notice",
    "plugin_install": "plugin",
    "post_turn_summary": "summary",
    "scheduled_task_fire": "task",
    "session_writes_lost": "notice",
    "stop_hook_summary": "hook",
    "task_summary": "summary",
    "turn_preempted": "notice",
    "worker_shutting_down": "notice",
}
"""System messages that become status items, with their labels."""

IGNORED = {
    "background_tasks_changed",  # the task messages say the same
    "bridge_state",
    "bridge_status",
    "cloud_session_delta",
    "cloud_session_status",
    "commands_changed",
    "control_request_progress",
    "dev_intent",
    "feedback_draft_queued",
    "file_snapshot",
    "inherited_asks_settled",
    "mirror_error",
    "per_turn_effort_changed",
    "permission_check_status",
    "session_metadata",
    "start_folder",
    "thinking",  # also sent as a content block
    "thinking_tokens",
    "turn_began_before_init",
    "turn_duration",
    "turn_handoff_available",
    "turn_starting",
    "ui_focus",
    "ui_invalidate",
    "ui_log",
    "ui_notify",
    "ui_notify_cancel",
    "ui_panes",
    "ui_placed",
    "ui_scroll",
    "ui_status",
    "ui_toast",
    "upgrade_relay_marker",
    "vcs_state_changed",
    "voice_call_talk",
}
"""System messages without meaning to a reader."""
