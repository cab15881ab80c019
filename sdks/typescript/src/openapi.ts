// Written by `make gen` from docs/openapi.json; change the daemon's code that it comes from.
export interface paths {
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all agents with their install state, version, credentials and capabilities. */
        get: operations["agents.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an agent with its install state, version, credentials and capabilities. */
        get: operations["agents.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent}/install": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Install an agent, or return where it is installed.
         * @description A client that accepts `text/event-stream` receives frames named `progress`, then one named `result` with the
         *     response, or one named `problem` with the error.
         */
        post: operations["agents.install"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent}/modes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List an agent's modes in a directory. */
        get: operations["agents.modes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent}/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List an agent's models and their variants in a directory. */
        get: operations["agents.models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the slash commands and prompt templates that a new session in a directory would have. */
        get: operations["agents.commands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a session. */
        get: operations["sessions.get"];
        put?: never;
        /**
         * Create a session with the given id and start its agent.
         * @description If the agent is installed but does not start, the session is created and ended, and the response has `healthy: false`.
         */
        post: operations["sessions.create"];
        /** Terminate a session and delete it with its events. */
        delete: operations["sessions.delete"];
        options?: never;
        head?: never;
        /**
         * Change the title, model, variant, modes, rules or limits of a session; while it runs if the agent supports that.
         * @description Queued messages that a limit kept waiting start as soon as it is raised.
         */
        patch: operations["sessions.update"];
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sessions, newest first. */
        get: operations["sessions.list"];
        put?: never;
        /** Create a session with a generated id. */
        post: operations["sessions.new"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a message. Returns once it is durable; while a turn runs, it waits in the queue. */
        post: operations["sessions.send_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel the running turn. The next queued message then starts.
         * @description Name the turn if the session has a queue: otherwise, if the turn ends just before your request arrives, you cancel the
         *     next one.
         */
        post: operations["sessions.cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/terminate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the session and all its processes. */
        post: operations["sessions.terminate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop the process of an idle agent; the next message resumes the conversation.
         * @description The daemon does the same after `--idle-seconds`. It has no effect while a turn runs or a message is queued, or if the
         *     agent could not resume the conversation.
         */
        post: operations["sessions.suspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a session's MCP servers, with the state and the tools that its agent reports. */
        get: operations["sessions.mcp"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a session's skills, with their sources and commits. */
        get: operations["sessions.skills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List queued messages, oldest first. */
        get: operations["sessions.queue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/queue/{turn_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Withdraw a queued message. */
        delete: operations["sessions.withdraw"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List pending permissions. */
        get: operations["permissions.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List pending questions. */
        get: operations["questions.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/permissions/{permission_id}/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a permission. A second answer gets 409. */
        post: operations["permissions.reply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/questions/{question_id}/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a question. A second answer gets 409. */
        post: operations["questions.reply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/questions/{question_id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject a question. */
        post: operations["questions.reject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/attachments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Upload a file to use in a message. */
        post: operations["attachments.upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/attachments/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an attachment. */
        get: operations["attachments.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the files that changed in the session's directory since the session began.
         * @description In a git repository, the directory is compared with a snapshot from the beginning, including uncommitted changes.
         *     Elsewhere, the list has the changes that the agent reported. Files ignored by .gitignore are skipped. Binary files and
         *     files over 4 MiB are listed with their size only.
         */
        get: operations["changes.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/changes/revert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Restore files to their state at the beginning of the session. `undo` reverses it. */
        post: operations["changes.revert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/changes/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undo the last revert. */
        post: operations["changes.undo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the slash commands and prompt templates that the agent offers in the session. */
        get: operations["sessions.commands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/commands/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a command of the agent as a turn. While another turn runs, it waits in the queue. */
        post: operations["sessions.run_command"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace the conversation so far with a summary, as a turn. Refused if the agent does not support it. */
        post: operations["sessions.compact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an MCP server of a directory. */
        get: operations["config.get_mcp"];
        /**
         * Add an MCP server to a directory, or replace it.
         * @description Sessions that are created in the directory from then on get it, unless they have a server of that name.
         */
        put: operations["config.set_mcp"];
        post?: never;
        /** Remove an MCP server from a directory. Sessions that have it keep it. */
        delete: operations["config.delete_mcp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show one entry of a directory's skills. */
        get: operations["config.get_skills"];
        /**
         * Add skills to a directory, or replace them.
         * @description Sessions that are created in the directory from then on get them. Their sources are read at that time.
         */
        put: operations["config.set_skills"];
        post?: never;
        /** Remove skills from a directory. Sessions that have them keep them. */
        delete: operations["config.delete_skills"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the desktop's state: what is missing, what runs, and why it stopped. */
        get: operations["desktop.status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start the desktop. If it is already running, nothing changes. */
        post: operations["desktop.start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop the desktop and every program that was started on it. */
        post: operations["desktop.stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/display/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the display and its size. */
        get: operations["desktop.info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/screenshot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Take a screenshot of the whole desktop. */
        get: operations["desktop.screenshot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/screenshot/region": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Take a screenshot of a part of the desktop. */
        get: operations["desktop.region"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/mouse/position": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show where the mouse is. */
        get: operations["desktop.mouse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/mouse/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move the mouse. */
        post: operations["desktop.move"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/mouse/click": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move the mouse and click. */
        post: operations["desktop.click"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/mouse/down": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Press a mouse button and hold it. */
        post: operations["desktop.mouse_down"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/mouse/up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Release a mouse button. */
        post: operations["desktop.mouse_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/mouse/drag": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Press a button at one place and release it at another. */
        post: operations["desktop.drag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/mouse/scroll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move the mouse and turn its wheel. */
        post: operations["desktop.scroll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/keyboard/type": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Type text into the window that has the focus. */
        post: operations["desktop.type"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/keyboard/press": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Press and release a key, or several together. */
        post: operations["desktop.press"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/keyboard/down": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Press a key and hold it. */
        post: operations["desktop.key_down"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/keyboard/up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Release a key. */
        post: operations["desktop.key_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/windows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the visible windows. */
        get: operations["desktop.windows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/windows/focused": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the window that has the focus. */
        get: operations["desktop.focused"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/windows/{window_id}/focus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Raise a window and give it the focus. */
        post: operations["desktop.focus"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/windows/{window_id}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move a window. */
        post: operations["desktop.move_window"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/windows/{window_id}/resize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resize a window. */
        post: operations["desktop.resize_window"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/clipboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the clipboard's text. */
        get: operations["desktop.clipboard"];
        put?: never;
        /** Copy text to the clipboard. */
        post: operations["desktop.set_clipboard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/launch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a program on the desktop. It runs as a process with the owner `desktop`, and ends with the desktop. */
        post: operations["desktop.launch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a file or a URL with the machine's default program for it. */
        post: operations["desktop.open"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/recording/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start recording the desktop. There is at most one recording at a time. */
        post: operations["desktop.record"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/recording/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finish the recording. */
        post: operations["desktop.stop_recording"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/recordings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the recordings, oldest first. */
        get: operations["desktop.recordings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/recordings/{recording_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a recording. */
        get: operations["desktop.recording"];
        put?: never;
        post?: never;
        /** Delete a finished recording. */
        delete: operations["desktop.delete_recording"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/recordings/{recording_id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a finished recording (MP4). */
        get: operations["desktop.download_recording"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/stream/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show whether the live view is on, and how many viewers it has. */
        get: operations["desktop.stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/stream/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Turn the live view on: viewers connect to the WebSocket `/v1/desktop/stream/rfb`, which speaks RFB (VNC). */
        post: operations["desktop.start_stream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/desktop/stream/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Turn the live view off. Viewers are disconnected. */
        post: operations["desktop.stop_stream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read events after an offset, oldest first. */
        get: operations["sessions.events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/events/sse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream events after an offset, then every new one, until the session ends.
         * @description A frame named `end` marks the end of the stream. A reader that already has every event of an ended session gets 204.
         */
        get: operations["sessions.events_sse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/sse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the events of all sessions, and frames named `session` when a session is created, changed or deleted.
         * @description The stream starts with a frame that has only an id, the current position in the log. A reader that loses the
         *     connection before the first event resumes from there.
         */
        get: operations["events.sse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/messages/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a message and stream the events of its turn until it ends. */
        post: operations["sessions.stream_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a directory, sorted by name: all entries as a list, or pages with `limit`. */
        get: operations["fs.entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/stat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the type, size and times of a path. */
        get: operations["fs.stat"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a file or a range of it. */
        get: operations["fs.read"];
        /** Write a file atomically. Creates missing directories, follows links and keeps the mode. */
        put: operations["fs.write"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a directory as an archive, packed while it is sent.
         * @description Links are packed as links. Sockets, pipes, devices, files that the daemon cannot read and the daemon's own files are
         *     left out.
         */
        get: operations["fs.download"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search names and contents below a directory. `truncated` means that there may be more matches.
         * @description Binary files, and files beyond their first 64 MiB, are not searched.
         */
        get: operations["fs.search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream changes below a directory, starting now.
         * @description Each frame is a change: `path`, `change` (`created`, `modified`, `deleted`) and `entryType`. A frame named `lost` means
         *     that changes are missing, because there were too many at once or there are too many directories: read the directory
         *     again.
         */
        get: operations["fs.watch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/entry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a file, a link (not its target) or a directory. */
        delete: operations["fs.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/mkdir": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a directory and its parents. It may already exist. */
        post: operations["fs.mkdir"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move a file, a link (not its target) or a directory within a file system. */
        post: operations["fs.move"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fs/upload-batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a tar archive and unpack it into a directory.
         * @description An archive with anything outside the directory is refused before anything is written: `..`, absolute names, links that
         *     point outside, names that pass through a link, devices.
         */
        post: operations["fs.upload_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the nodes that share the log. Without a shared log, that is only this daemon. */
        get: operations["nodes.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{name}/fence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fence a node at once, instead of waiting for its lease: nothing it writes from now on is accepted.
         * @description This is always safe for the log. If the node still runs, its agents keep running until it notices, so make sure
         *     that it is gone before others continue its sessions.
         */
        post: operations["nodes.fence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the rules of a session: the operator's, then its own. */
        get: operations["policy.show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show what would happen to an agent's request, and which rule decides. Nothing is run.
         * @description Rules do not stop an agent that does not ask: docs/permissions.mdx says what each agent asks for.
         */
        post: operations["policy.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List running and ended processes. */
        get: operations["processes.list"];
        put?: never;
        /**
         * Start a process that runs until it exits, is stopped, or the daemon stops.
         * @description When its program exits, everything it started ends too.
         */
        post: operations["processes.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a program to completion and return its output.
         * @description Its input is empty. At the time limit it is killed, with everything it started.
         */
        post: operations["processes.run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the limits of processes. */
        get: operations["processes.config"];
        put?: never;
        /** Replace the limits of processes. They apply to processes started from now on. */
        post: operations["processes.configure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/{process_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a process. */
        get: operations["processes.get"];
        put?: never;
        post?: never;
        /** Delete an ended process and its output. */
        delete: operations["processes.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/{process_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send SIGTERM to a process and wait for its exit. A process that ignores it keeps running. */
        post: operations["processes.stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/{process_id}/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Kill a process and everything it started (SIGKILL). */
        post: operations["processes.kill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/{process_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the output of a process, or follow it.
         * @description A stream has frames named `log`, with the sequence of the entry as id, and ends with one named `end`. A reader that
         *     already has all output of an ended process gets 204.
         */
        get: operations["processes.logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/{process_id}/input": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Write to the input of a process and wait until it is accepted. */
        post: operations["processes.input"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/{process_id}/terminal/resize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resize the terminal of a process. */
        post: operations["processes.resize"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/processes/{process_id}/terminal/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Use the terminal of a process over a WebSocket.
         * @description The recent output is sent first. Several clients may watch and type at once.
         */
        get: operations["processes.terminal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the daemon is running; returns its version. */
        get: operations["system.health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the daemon accepts work: the log is writable and the daemon is not stopping. */
        get: operations["system.ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return metrics in Prometheus text format. */
        get: operations["system.metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/tool-calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List pending calls to the client's tools. */
        get: operations["tool_calls.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}/tool-calls/{call_id}/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a call with the tool's output or its error. A second answer gets 409. */
        post: operations["tool_calls.reply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sum up tokens and cost, as the agents reported them.
         * @description Unknown is not zero: `turnsWithoutCost` says how many turns a sum leaves out, and a sum without any known value is
         *     absent. Turns of deleted sessions are included.
         */
        get: operations["usage.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** AgentList */
        AgentList: {
            agents: components["schemas"]["AgentInfo"][];
        };
        /** AgentInfo */
        AgentInfo: {
            id: string;
            installed: boolean;
            credentialsAvailable: boolean;
            /** @enum {unknown} */
            stability: "experimental" | "stable";
            capabilities: components["schemas"]["Capabilities"];
            /** @default null */
            version?: string | null;
            /** @default null */
            path?: string | null;
            /** @default null */
            testedVersion?: string | null;
            /** @default null */
            serverStatus?: Record<string, unknown> | null;
            /**
             * @description Where the program comes from.
             * @default null
             */
            source?: string | null;
            /**
             * @description Size on disk in bytes.
             * @default null
             */
            size?: number | null;
            /**
             * @description What a session may choose, if `config` is set and the agent reports it.
             * @default null
             */
            configOptions?: components["schemas"]["ConfigOption"][] | null;
        };
        /**
         * Capabilities
         * @description One flag per feature; false unless the adapter says otherwise.
         */
        Capabilities: {
            /** @default false */
            textMessages?: boolean;
            /** @default false */
            toolCalls?: boolean;
            /** @default false */
            toolResults?: boolean;
            /** @default false */
            questions?: boolean;
            /** @default false */
            permissions?: boolean;
            /** @default false */
            planMode?: boolean;
            /** @default false */
            images?: boolean;
            /** @default false */
            fileAttachments?: boolean;
            /** @default false */
            sessionLifecycle?: boolean;
            /** @default false */
            errorEvents?: boolean;
            /** @default false */
            reasoning?: boolean;
            /** @default false */
            commandExecution?: boolean;
            /** @default false */
            fileChanges?: boolean;
            /** @default false */
            mcpTools?: boolean;
            /** @default false */
            streamingDeltas?: boolean;
            /** @default false */
            itemStarted?: boolean;
            /** @default false */
            variants?: boolean;
            /** @default false */
            status?: boolean;
            /** @default false */
            sharedProcess?: boolean;
        };
        /**
         * ConfigOption
         * @description A selection, as the Agent Client Protocol writes it.
         */
        ConfigOption: {
            id: string;
            name: string;
            category: string;
            currentValue: string;
            options: components["schemas"]["OptionValue"][];
            /** @enum {unknown} */
            type?: "select";
        };
        /** OptionValue */
        OptionValue: {
            value: string;
            name: string;
            /** @default null */
            description?: string | null;
        };
        /** Installed */
        Installed: {
            alreadyInstalled: boolean;
            version: string | null;
            path: string;
            /** @description `built-in`, `folder`, `path` (found); `publisher`, `npm`, `mirror` (fetched). */
            source: string;
        };
        /** Modes */
        Modes: {
            modes: components["schemas"]["Mode"][];
        };
        /** Mode */
        Mode: {
            id: string;
            name: string;
            /** @default  */
            description?: string;
        };
        /** Models */
        Models: {
            models: components["schemas"]["Model"][];
            /** @default null */
            defaultModel?: string | null;
        };
        /** Model */
        Model: {
            id: string;
            /** @default null */
            name?: string | null;
            /** @default null */
            variants?: string[] | null;
            /** @default null */
            defaultVariant?: string | null;
        };
        /** Commands */
        Commands: {
            commands: components["schemas"]["Command"][];
        };
        /**
         * Command
         * @description A slash command or a prompt template that an agent offers.
         */
        Command: {
            /** @description Without the slash. */
            name: string;
            /** @default  */
            description?: string;
            /**
             * @description What may follow the name, as the agent describes it.
             * @default
             */
            arguments?: string;
        };
        /** CreatedSession */
        CreatedSession: {
            sessionId: string;
            healthy?: boolean;
            /** @default null */
            error?: Record<string, unknown> | null;
            /** @default null */
            nativeSessionId?: string | null;
            /** @default null */
            agentSessionId?: string | null;
        };
        /** SessionPage */
        SessionPage: {
            sessions: components["schemas"]["SessionInfo"][];
            /** @default null */
            nextCursor?: string | null;
        };
        /** SessionInfo */
        SessionInfo: {
            sessionId: string;
            agent: string;
            agentMode: string;
            /** @enum {unknown} */
            permissionMode: "acceptEdits" | "bypass" | "default" | "plan";
            model: string | null;
            variant: string | null;
            title: string | null;
            directory: string;
            nativeSessionId: string | null;
            /** @enum {unknown} */
            state: "ended" | "idle" | "requires_action" | "running";
            ended: boolean;
            eventCount: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            createdAt: string;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            updatedAt: string;
            usage: components["schemas"]["SessionUsage"];
            /** @default 0 */
            turns?: number;
            /** @default {} */
            limits?: components["schemas"]["SessionLimits"];
            /** @default null */
            limitReached?: components["schemas"]["ReachedLimit"] | null;
            /** @default null */
            node?: string | null;
        };
        /**
         * SessionUsage
         * @description The sum of a session's turns, including the running one, in camelCase like all REST bodies; for the context, the latest value.
         */
        SessionUsage: {
            /** @default null */
            inputTokens?: number | null;
            /** @default null */
            outputTokens?: number | null;
            /** @default null */
            cacheReadTokens?: number | null;
            /** @default null */
            cacheWriteTokens?: number | null;
            /** @default null */
            reasoningTokens?: number | null;
            /** @default null */
            costUsd?: number | null;
            /** @default null */
            contextTokens?: number | null;
            /** @default null */
            contextWindow?: number | null;
        };
        /**
         * SessionLimits
         * @description The limits of a session; what is absent is not limited.
         */
        SessionLimits: {
            /**
             * @description Turns that may start.
             * @default null
             */
            maxTurns?: number | null;
            /**
             * @description Cost of all turns in US dollars, as the agent reports it.
             * @default null
             */
            maxCostUsd?: number | null;
            /**
             * @description Input and output tokens of all turns.
             * @default null
             */
            maxTokens?: number | null;
            /**
             * @description Seconds that a turn may take.
             * @default null
             */
            maxTurnSeconds?: number | null;
            /**
             * @description Seconds from the creation of the session.
             * @default null
             */
            maxSessionSeconds?: number | null;
        };
        /**
         * ReachedLimit
         * @description A limit that a session has reached.
         */
        ReachedLimit: {
            /** @enum {unknown} */
            limit: "maxCostUsd" | "maxSessionSeconds" | "maxTokens" | "maxTurnSeconds" | "maxTurns";
            value: number;
            used: number;
        };
        /** SentMessage */
        SentMessage: {
            turnId: string;
            queued: boolean;
        };
        /** McpServerList */
        McpServerList: {
            servers: components["schemas"]["McpServerInfo"][];
        };
        /**
         * McpServerInfo
         * @description An MCP server of a session.
         */
        McpServerInfo: {
            /**
             * @description `unknown` if the agent has not reported it, does not report it, or is not running.
             * @enum {unknown}
             */
            state?: "connected" | "disabled" | "failed" | "needs_auth" | "pending" | "unknown";
            /**
             * @description Why it failed.
             * @default null
             */
            error?: string | null;
            /**
             * @description Names of its tools, if the agent reports them.
             * @default null
             */
            tools?: string[] | null;
            name: string;
        };
        /** SkillList */
        SkillList: {
            skills: components["schemas"]["Skill"][];
        };
        /**
         * Skill
         * @description A skill that a session has.
         */
        Skill: {
            name: string;
            /** @default  */
            description?: string;
            /**
             * @description The source it comes from.
             * @default
             */
            source?: string;
            /**
             * @description The commit, if the source is a repository.
             * @default null
             */
            commit?: string | null;
        };
        /** Queue */
        Queue: {
            messages: components["schemas"]["QueuedMessageInfo"][];
            /** @default null */
            nextCursor?: string | null;
        };
        /** QueuedMessageInfo */
        QueuedMessageInfo: {
            turnId: string;
            message: string;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            createdAt: string;
            attachments: components["schemas"]["Attachment"][];
            /** @default null */
            clientId?: string | null;
        };
        /** Attachment */
        Attachment: {
            /** @description A path on the daemon's machine, or the path returned by an upload. */
            path: string;
            /**
             * @description Media type; guessed from the name if absent.
             * @default null
             */
            mime?: string | null;
            /**
             * @description The name to show.
             * @default null
             */
            filename?: string | null;
        };
        /** PermissionList */
        PermissionList: {
            permissions: components["schemas"]["PermissionRequested"][];
        };
        /** PermissionRequested */
        PermissionRequested: {
            permission_id: string;
            action: string;
            /** @enum {unknown} */
            status: "accept" | "accept_for_session" | "reject" | "requested";
            metadata: components["schemas"]["PermissionMetadata"];
        };
        /** PermissionMetadata */
        PermissionMetadata: {
            tool_name: string;
            input: unknown;
            /** @default null */
            call_id?: string | null;
            /** @default null */
            paths?: string[] | null;
            /** @default null */
            diff?: string | null;
            /** @default null */
            reason?: string | null;
            /** @default null */
            decided_by?: ("agent" | "client" | "daemon" | "rule") | null;
            /** @default null */
            message?: string | null;
            /** @enum {unknown} */
            kind?: "command" | "edit" | "fetch" | "mcp" | "other" | "read" | "search" | "task";
            title?: string;
            /** @default null */
            rule?: components["schemas"]["RuleReference"] | null;
        };
        /**
         * RuleReference
         * @description The rule that decided.
         */
        RuleReference: {
            /** @enum {unknown} */
            list: "operator" | "session";
            index: number;
            /** @default null */
            reason?: string | null;
        };
        /** QuestionList */
        QuestionList: {
            questions: components["schemas"]["QuestionRequested"][];
        };
        /** QuestionRequested */
        QuestionRequested: {
            question_id: string;
            prompt: string;
            options: string[];
            /** @enum {unknown} */
            status: "answered" | "rejected" | "requested";
            metadata: components["schemas"]["QuestionMetadata"];
            /** @default null */
            response?: string | null;
        };
        /** QuestionMetadata */
        QuestionMetadata: {
            questions: components["schemas"]["AskedQuestion"][];
            /** @default null */
            answers?: string[][] | null;
            /** @default null */
            decided_by?: ("agent" | "client" | "daemon" | "rule") | null;
            /** @default null */
            message?: string | null;
            /** @default null */
            call_id?: string | null;
            /** @default null */
            plan?: boolean | null;
        };
        /**
         * AskedQuestion
         * @description One of the questions of a request.
         */
        AskedQuestion: {
            question: string;
            header: string;
            options: components["schemas"]["Choice"][];
            /** @default false */
            multi_select?: boolean;
        };
        /** Choice */
        Choice: {
            label: string;
            /** @default  */
            description?: string;
        };
        /** StoredAttachment */
        StoredAttachment: {
            path: string;
            mime: string | null;
            size: number;
        };
        /** ChangeList */
        ChangeList: {
            directory: string;
            /**
             * @description `snapshot`: compared with the directory at the start. `events`: the changes that the agent reported, if there is no snapshot; these cannot be reverted.
             * @enum {unknown}
             */
            source: "events" | "snapshot";
            files: components["schemas"]["ChangedFile"][];
            additions: number;
            deletions: number;
            /** @description There is a revert to undo. */
            canUndo: boolean;
            /**
             * @description The commit that was checked out when the session started.
             * @default null
             */
            commit?: string | null;
            /**
             * @description Why there is no snapshot.
             * @default null
             */
            notice?: string | null;
        };
        /** ChangedFile */
        ChangedFile: {
            /** @description Relative to the session's directory. */
            path: string;
            /** @enum {unknown} */
            status: "added" | "deleted" | "modified";
            /** @description Tag of the file as it is now; pass it to `revert`. */
            etag: string;
            /**
             * @description Current size in bytes.
             * @default null
             */
            size?: number | null;
            /**
             * @description Lines added; absent for files that are binary or too large.
             * @default null
             */
            additions?: number | null;
            /** @default null */
            deletions?: number | null;
            /**
             * @description Unified diff; absent for files that are binary or too large.
             * @default null
             */
            diff?: string | null;
        };
        /** Reverted */
        Reverted: {
            /** @description The files that were written or removed. */
            paths: string[];
        };
        /**
         * McpServer
         * @description An MCP server: a command to run, or a URL to reach.
         */
        McpServer: {
            /** @default null */
            command?: string | null;
            /** @default [] */
            args?: string[];
            /** @default {} */
            env?: {
                [key: string]: string;
            };
            /** @default null */
            url?: string | null;
            /** @default {} */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description `local` (or `stdio`) with `command`, `remote` (or `http`) with `url`; optional.
             * @default null
             */
            type?: ("http" | "local" | "remote" | "stdio") | null;
            /**
             * @description Working directory of the command, relative to the session's.
             * @default null
             */
            cwd?: string | null;
            /**
             * @description `false` leaves the server out.
             * @default null
             */
            enabled?: boolean | null;
            /**
             * @description How long a tool call may take, if the agent lets clients choose it.
             * @default null
             */
            timeoutMs?: number | null;
            /**
             * @description How to talk to the URL (default: `http`).
             * @default null
             */
            transport?: ("http" | "sse") | null;
            /**
             * @description Variable with the token for the header `Authorization`.
             * @default null
             */
            bearerTokenEnvVar?: string | null;
            /**
             * @description Headers whose values are in variables: header to variable.
             * @default {}
             */
            envHeaders?: {
                [key: string]: string;
            };
        };
        /** SkillsConfig */
        SkillsConfig: {
            /** @description Where the skills come from. */
            sources: components["schemas"]["SkillSource"][];
        };
        /**
         * SkillSource
         * @description Where skills come from: a directory, or a git repository.
         */
        SkillSource: {
            /**
             * @description `local`: a directory on the daemon's machine. `git`: a URL. `github`: `owner/name`.
             * @enum {unknown}
             */
            type: "git" | "github" | "local";
            /** @description The directory, URL or repository. */
            source: string;
            /**
             * @description Branch, tag or commit of a repository (default: its default branch).
             * @default null
             */
            ref?: string | null;
            /**
             * @description Directory inside the source.
             * @default null
             */
            subpath?: string | null;
            /**
             * @description Names of the skills to use (default: all).
             * @default null
             */
            skills?: string[] | null;
        };
        /** DesktopStatus */
        DesktopStatus: {
            /** @enum {unknown} */
            state: "active" | "failed" | "inactive" | "install_required" | "starting" | "stopping";
            /**
             * @description The X display, e.g. `:99`.
             * @default null
             */
            display?: string | null;
            /** @default null */
            resolution?: components["schemas"]["Resolution"] | null;
            /** @default null */
            startedAt?: string | null;
            /**
             * @description Why it cannot start, or why it stopped by itself.
             * @default null
             */
            lastError?: components["schemas"]["DesktopError"] | null;
            /**
             * @description Programs that must be installed first.
             * @default []
             */
            missingDependencies?: string[];
            /**
             * @description Installs what is missing.
             * @default null
             */
            installCommand?: string | null;
            /** @default [] */
            processes?: components["schemas"]["DesktopProcess"][];
            /** @default [] */
            windows?: components["schemas"]["WindowInfo"][];
        };
        /** Resolution */
        Resolution: {
            width: number;
            height: number;
            dpi: number;
        };
        /** DesktopError */
        DesktopError: {
            code: string;
            message: string;
        };
        /**
         * DesktopProcess
         * @description A program of the desktop itself. Its output is in the logs of `processId`.
         */
        DesktopProcess: {
            name: string;
            running: boolean;
            processId: string;
            /** @default null */
            pid?: number | null;
        };
        /**
         * WindowInfo
         * @description A window. Its place and size are those of its content, without the frame.
         */
        WindowInfo: {
            id: string;
            title: string;
            x: number;
            y: number;
            width: number;
            height: number;
            isActive: boolean;
        };
        /** DisplayInfo */
        DisplayInfo: {
            display: string;
            resolution: components["schemas"]["Resolution"];
        };
        /** MousePosition */
        MousePosition: {
            x: number;
            y: number;
            screen: number;
            /**
             * @description The window below the pointer.
             * @default null
             */
            window?: string | null;
        };
        /** DesktopDone */
        DesktopDone: {
            ok: boolean;
        };
        /** WindowList */
        WindowList: {
            windows: components["schemas"]["WindowInfo"][];
        };
        /** ClipboardText */
        ClipboardText: {
            /** @enum {unknown} */
            selection: "clipboard" | "primary";
            text: string;
        };
        /** LaunchedApp */
        LaunchedApp: {
            processId: string;
            /** @default null */
            pid?: number | null;
            /**
             * @description Its first window, with `wait`.
             * @default null
             */
            windowId?: string | null;
        };
        /** OpenedTarget */
        OpenedTarget: {
            processId: string;
            /** @default null */
            pid?: number | null;
        };
        /** RecordingInfo */
        RecordingInfo: {
            id: string;
            fileName: string;
            /** @enum {unknown} */
            status: "completed" | "failed" | "recording";
            bytes: number;
            startedAt: string;
            /** @default null */
            endedAt?: string | null;
            /** @default null */
            processId?: string | null;
        };
        /** RecordingList */
        RecordingList: {
            recordings: components["schemas"]["RecordingInfo"][];
        };
        /**
         * StreamStatus
         * @description `active`: viewers can connect to `/v1/desktop/stream/rfb`.
         */
        StreamStatus: {
            active: boolean;
            /** @default null */
            processId?: string | null;
            /** @default 0 */
            viewers?: number;
        };
        /** EventPage */
        EventPage: {
            events: components["schemas"]["Event"][];
            hasMore: boolean;
        };
        /** FileEntry */
        FileEntry: {
            name: string;
            path: string;
            /**
             * @description `file` for everything that is not a directory, including links.
             * @enum {unknown}
             */
            entryType: "directory" | "file";
            size: number;
            modified: string;
            /**
             * @description The target of a link.
             * @default null
             */
            linkTarget?: string | null;
        };
        /** EntryPage */
        EntryPage: {
            entries: components["schemas"]["FileEntry"][];
            /** @default null */
            nextCursor?: string | null;
        };
        /** FileStat */
        FileStat: {
            path: string;
            /** @enum {unknown} */
            entryType: "directory" | "file";
            size: number;
            modified: string;
            /** @description Changes with the file; use it in `If-Match` and `If-None-Match`. */
            etag: string;
        };
        /** SearchResult */
        SearchResult: {
            hits: components["schemas"]["SearchHit"][];
            /**
             * @description Why there may be more: too many hits, or out of time.
             * @default null
             */
            truncated?: ("limit" | "time") | null;
        };
        /** SearchHit */
        SearchHit: {
            path: string;
            /** @enum {unknown} */
            entryType: "directory" | "file";
            /**
             * @description The line number, from 1; absent unless text was searched.
             * @default null
             */
            line?: number | null;
            /**
             * @description That line, truncated if long.
             * @default null
             */
            text?: string | null;
        };
        /** FileWritten */
        FileWritten: {
            path: string;
            bytesWritten: number;
            etag: string;
        };
        /** FileAction */
        FileAction: {
            path: string;
        };
        /** FileMoved */
        FileMoved: {
            from: string;
            to: string;
        };
        /** Unpacked */
        Unpacked: {
            /** @description The first 1,024 paths that were written, including directories. */
            paths: string[];
            /** @description More paths were written than are listed. */
            truncated: boolean;
        };
        /** NodeList */
        NodeList: {
            nodes: components["schemas"]["NodeInfo"][];
        };
        /** NodeInfo */
        NodeInfo: {
            name: string;
            /** @enum {unknown} */
            state: "fenced" | "live" | "silent";
            version: string;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            startedAt: string;
            /** @default null */
            lastSeenAt?: string | null;
            /** @default false */
            asked?: boolean;
        };
        /** PolicyList */
        PolicyList: {
            /** @description The operator's rules, then the session's, in their order. */
            rules: components["schemas"]["ListedRule"][];
        };
        /** ListedRule */
        ListedRule: {
            /**
             * @description Whose rule it is.
             * @enum {unknown}
             */
            list: "operator" | "session";
            /** @description Its position in that list, from 0. */
            index: number;
            rule: components["schemas"]["PolicyRule"];
            /** @default false */
            expired?: boolean;
        };
        /**
         * PolicyRule
         * @description What to do with a request that matches every given field. An unknown field is refused: a typo must not widen a rule.
         */
        PolicyRule: {
            /**
             * @description `allow`, `ask` or `deny`.
             * @enum {unknown}
             */
            effect: "allow" | "ask" | "deny";
            /**
             * @description Name of the agent; `*` is a wildcard.
             * @default null
             */
            agent?: string | null;
            /**
             * @description What the tool does.
             * @default null
             */
            kind?: ("command" | "edit" | "fetch" | "mcp" | "other" | "read" | "search" | "task") | null;
            /**
             * @description The agent's name for the tool; `*` is a wildcard.
             * @default null
             */
            tool?: string | null;
            /**
             * @description Words of a command, e.g. `git *`. `allow` must match the whole command, `deny` and `ask` match its beginning.
             * @default null
             */
            command?: string | null;
            /**
             * @description File after links are resolved, e.g. `src/**`; relative to the session's directory.
             * @default null
             */
            path?: string | null;
            /**
             * @description Host that is contacted, e.g. `*.example.com`.
             * @default null
             */
            host?: string | null;
            /**
             * @description Why; sent to the agent when the rule denies a request.
             * @default null
             */
            reason?: string | null;
            /**
             * @description When the rule ends, e.g. `2030-01-31T12:00:00Z`.
             * @default null
             */
            expires?: string | null;
        };
        /** PolicyVerdict */
        PolicyVerdict: {
            /**
             * @description What would happen; `ask` waits for a client.
             * @enum {unknown}
             */
            outcome: "allow" | "ask" | "deny";
            /**
             * @description What decides.
             * @enum {unknown}
             */
            decidedBy: "permissionMode" | "rule";
            /** @description The request in parts; the strictest answer counts. */
            parts: components["schemas"]["JudgedPart"][];
            /**
             * @description The rule that decides.
             * @default null
             */
            rule?: components["schemas"]["RuleReference"] | null;
            /**
             * @description The reason that the agent gets.
             * @default null
             */
            message?: string | null;
        };
        /**
         * JudgedPart
         * @description A command, file or host of a request, and what the rules say about it.
         */
        JudgedPart: {
            /** @enum {unknown} */
            kind: "command" | "edit" | "fetch" | "mcp" | "other" | "read" | "search" | "task";
            text: string;
            /**
             * @description Absent if no rule matches.
             * @default null
             */
            effect?: ("allow" | "ask" | "deny") | null;
            /** @default null */
            rule?: components["schemas"]["RuleReference"] | null;
            /**
             * @description Why it is not certain that the rule matches.
             * @default null
             */
            why?: string | null;
        };
        /** ProcessList */
        ProcessList: {
            processes: components["schemas"]["ProcessInfo"][];
        };
        /** ProcessInfo */
        ProcessInfo: {
            id: string;
            command: string;
            args: string[];
            /** @enum {unknown} */
            status: "exited" | "running";
            /** @enum {unknown} */
            owner: "desktop" | "system" | "user";
            tty: boolean;
            interactive: boolean;
            createdAtMs: number;
            /** @default null */
            cwd?: string | null;
            /** @default null */
            pid?: number | null;
            /** @default null */
            exitCode?: number | null;
            /** @default null */
            exitedAtMs?: number | null;
            /**
             * @description `daemon`: it was running when the daemon stopped or was killed.
             * @default null
             */
            endedBy?: ("daemon" | "exit" | "signal") | null;
            /**
             * @description The signal that ended it, e.g. `SIGTERM`.
             * @default null
             */
            signal?: string | null;
            /**
             * @description CPU time used by it and its descendants.
             * @default null
             */
            cpuSeconds?: number | null;
            /**
             * @description Resident memory of it and its descendants.
             * @default null
             */
            memoryBytes?: number | null;
        };
        /**
         * ProcessRun
         * @description The outcome of a program that was run to its end.
         */
        ProcessRun: {
            /** @description Null after a signal or a timeout. */
            exitCode: number | null;
            stdout: string;
            stderr: string;
            stdoutTruncated: boolean;
            stderrTruncated: boolean;
            timedOut: boolean;
            durationMs: number;
        };
        /**
         * ProcessConfig
         * @description The limits of processes. They can be changed while the daemon runs, and stay changed.
         */
        ProcessConfig: {
            /** @description The maximum number of running processes; `run` does not count. */
            maxConcurrentProcesses: number;
            /** @description How long `run` waits by default. */
            defaultRunTimeoutMs: number;
            /** @description The longest timeout that `run` accepts. */
            maxRunTimeoutMs: number;
            /** @description Bytes of each stream that `run` keeps. */
            maxOutputBytes: number;
            /** @description Bytes of output kept for each process; the oldest are dropped. */
            maxLogBytesPerProcess: number;
            /** @description Bytes that one request may write to a process. */
            maxInputBytesPerRequest: number;
        };
        /** ProcessLogs */
        ProcessLogs: {
            processId: string;
            /** @enum {unknown} */
            stream: "combined" | "pty" | "stderr" | "stdout";
            entries: components["schemas"]["LogEntry"][];
        };
        /**
         * LogEntry
         * @description Output of a process from one read: not necessarily a line, nor whole characters.
         */
        LogEntry: {
            sequence: number;
            /** @enum {unknown} */
            stream: "combined" | "pty" | "stderr" | "stdout";
            timestampMs: number;
            data: string;
            /**
             * @default base64
             * @enum {unknown}
             */
            encoding?: "base64";
        };
        /** BytesWritten */
        BytesWritten: {
            bytesWritten: number;
        };
        /** TerminalSize */
        TerminalSize: {
            cols: number;
            rows: number;
        };
        /** Health */
        Health: {
            /** @enum {unknown} */
            status: "ok";
            version: string;
        };
        /** Readiness */
        Readiness: {
            /** @enum {unknown} */
            status: "ready";
        };
        /** ToolCallList */
        ToolCallList: {
            toolCalls: components["schemas"]["ToolRequest"][];
        };
        /**
         * ToolRequest
         * @description A call to a client's tool that waits for its result.
         */
        ToolRequest: {
            call_id: string;
            name: string;
            arguments: unknown;
        };
        /** UsageReport */
        UsageReport: {
            /** @enum {unknown} */
            by: "agent" | "day" | "model" | "session";
            /** @description Days in order; other groups by cost, the highest first. */
            rows: components["schemas"]["UsageSum"][];
            total: components["schemas"]["UsageSum"];
            /** @default null */
            from?: string | null;
            /** @default null */
            to?: string | null;
            /**
             * @description There are more rows. The total includes them.
             * @default false
             */
            truncated?: boolean;
        };
        /**
         * UsageSum
         * @description What some turns have spent. A sum is absent if nothing is known; otherwise it leaves out the turns without it.
         */
        UsageSum: {
            /** @description The agent, model, session or day (UTC); null if the model is unknown, and in the total. */
            key: string | null;
            turns: number;
            /** @description Turns whose tokens are unknown. */
            turnsWithoutTokens: number;
            /** @description Turns whose cost is unknown. */
            turnsWithoutCost: number;
            /** @default null */
            inputTokens?: number | null;
            /** @default null */
            outputTokens?: number | null;
            /** @default null */
            cacheReadTokens?: number | null;
            /** @default null */
            cacheWriteTokens?: number | null;
            /** @default null */
            reasoningTokens?: number | null;
            /** @default null */
            costUsd?: number | null;
        };
        /**
         * Progress
         * @description One step of an installation.
         */
        Progress: {
            /**
             * @description `waiting`: another installation of the agent is running. After `failed`, the next source is tried.
             * @enum {unknown}
             */
            stage: "asking" | "checking" | "downloading" | "failed" | "unpacking" | "waiting";
            /**
             * @description The source: `publisher`, `npm` or `mirror`.
             * @default null
             */
            source?: string | null;
            /**
             * @description The URL of the download.
             * @default null
             */
            file?: string | null;
            /**
             * @description Bytes downloaded so far.
             * @default 0
             */
            bytes?: number;
            /**
             * @description Total bytes, if known.
             * @default null
             */
            total?: number | null;
            /**
             * @description Why this source failed.
             * @default null
             */
            reason?: string | null;
        };
        /** InstallAgentBody */
        InstallAgentBody: {
            /**
             * @description Install again even if it is installed.
             * @default false
             */
            reinstall?: boolean;
            /**
             * @description Version to install, or `latest`. Default: the installed version, or the tested one if none is installed.
             * @default null
             */
            agentVersion?: string | null;
            /**
             * @description Leave the default version as it is: only sessions with this `agentVersion` use the new one.
             * @default false
             */
            keepDefault?: boolean;
        };
        /** CreateSessionBody */
        CreateSessionBody: {
            /** @description Agent to run, e.g. `claude`. */
            agent: string;
            /**
             * @description Mode of the agent: `build` (default), `plan`, or another mode it reports.
             * @default null
             */
            agentMode?: string | null;
            /**
             * @description When the agent asks: with `default`, before it writes or runs anything; with `acceptEdits`, not for plain edits inside the directory; with `bypass`, never. `plan` is read-only.
             * @default default
             * @enum {unknown}
             */
            permissionMode?: "acceptEdits" | "bypass" | "default" | "plan";
            /**
             * @description Model to use.
             * @default null
             */
            model?: string | null;
            /**
             * @description Variant of the model, e.g. its reasoning effort.
             * @default null
             */
            variant?: string | null;
            /**
             * @description Version of the agent to run.
             * @default null
             */
            agentVersion?: string | null;
            /**
             * @description Absolute path of the working directory (default: the daemon's).
             * @default null
             */
            directory?: string | null;
            /**
             * @description Title to display.
             * @default null
             */
            title?: string | null;
            /**
             * @description Environment variables for the agent; readable only by the owner, never returned.
             * @default {}
             */
            env?: {
                [key: string]: string;
            };
            /**
             * @description MCP servers by name.
             * @default {}
             */
            mcp?: {
                [key: string]: components["schemas"]["McpServer"];
            };
            /**
             * @description Skills: directories with a `SKILL.md`, and where they come from.
             * @default null
             */
            skills?: components["schemas"]["SkillsConfig"] | null;
            /**
             * @description Cancel a turn that takes longer (default: no limit).
             * @default null
             */
            turnTimeoutMs?: number | null;
            /**
             * @description Rules for what the agent may do, after the operator's.
             * @default []
             */
            policy?: components["schemas"]["PolicyRule"][];
            /**
             * @description Limits of the session; null removes one. For those not given, the daemon's defaults apply.
             * @default null
             */
            limits?: components["schemas"]["Limits"] | null;
            /**
             * @description Tools of the client that the agent may call; see `tool-calls`.
             * @default []
             */
            tools?: components["schemas"]["Tool"][];
            /**
             * @description How long a call to such a tool waits for an answer (default: 10 minutes).
             * @default null
             */
            toolTimeoutMs?: number | null;
            /**
             * @description Node that runs the session (default: the one that receives the request).
             * @default null
             */
            node?: string | null;
            /**
             * @description Let the agent look at the desktop and act on it (docs/computer-use.mdx).
             * @default false
             */
            desktop?: boolean;
        };
        /**
         * Limits
         * @description Limits to set. An absent one stays as it is; null removes it.
         */
        Limits: {
            /** @description Turns that may start. */
            maxTurns?: number | null;
            /** @description Cost of all turns in US dollars, as the agent reports it. */
            maxCostUsd?: number | null;
            /** @description Input and output tokens of all turns. */
            maxTokens?: number | null;
            /** @description Seconds that a turn may take. */
            maxTurnSeconds?: number | null;
            /** @description Seconds from the creation of the session. */
            maxSessionSeconds?: number | null;
        };
        /**
         * Tool
         * @description A function of the client that the agent may call.
         */
        Tool: {
            /** @description 1 to 64 of A-Z a-z 0-9 _ - */
            name: string;
            /**
             * @description What it does and when to call it, for the model.
             * @default
             */
            description?: string;
            /** @description JSON Schema of its arguments, which are an object. */
            inputSchema?: Record<string, unknown>;
        };
        /** SessionSettingsBody */
        SessionSettingsBody: {
            /** @description Agent to run, e.g. `claude`. */
            agent: string;
            /**
             * @description Mode of the agent: `build` (default), `plan`, or another mode it reports.
             * @default null
             */
            agentMode?: string | null;
            /**
             * @description When the agent asks: with `default`, before it writes or runs anything; with `acceptEdits`, not for plain edits inside the directory; with `bypass`, never. `plan` is read-only.
             * @default default
             * @enum {unknown}
             */
            permissionMode?: "acceptEdits" | "bypass" | "default" | "plan";
            /**
             * @description Model to use.
             * @default null
             */
            model?: string | null;
            /**
             * @description Variant of the model, e.g. its reasoning effort.
             * @default null
             */
            variant?: string | null;
            /**
             * @description Version of the agent to run.
             * @default null
             */
            agentVersion?: string | null;
            /**
             * @description Absolute path of the working directory (default: the daemon's).
             * @default null
             */
            directory?: string | null;
            /**
             * @description Title to display.
             * @default null
             */
            title?: string | null;
            /**
             * @description Environment variables for the agent; readable only by the owner, never returned.
             * @default {}
             */
            env?: {
                [key: string]: string;
            };
            /**
             * @description MCP servers by name.
             * @default {}
             */
            mcp?: {
                [key: string]: components["schemas"]["McpServer"];
            };
            /**
             * @description Skills: directories with a `SKILL.md`, and where they come from.
             * @default null
             */
            skills?: components["schemas"]["SkillsConfig"] | null;
            /**
             * @description Cancel a turn that takes longer (default: no limit).
             * @default null
             */
            turnTimeoutMs?: number | null;
            /**
             * @description Rules for what the agent may do, after the operator's.
             * @default []
             */
            policy?: components["schemas"]["PolicyRule"][];
            /**
             * @description Limits of the session; null removes one. For those not given, the daemon's defaults apply.
             * @default null
             */
            limits?: components["schemas"]["Limits"] | null;
            /**
             * @description Tools of the client that the agent may call; see `tool-calls`.
             * @default []
             */
            tools?: components["schemas"]["Tool"][];
            /**
             * @description How long a call to such a tool waits for an answer (default: 10 minutes).
             * @default null
             */
            toolTimeoutMs?: number | null;
            /**
             * @description Node that runs the session (default: the one that receives the request).
             * @default null
             */
            node?: string | null;
            /**
             * @description Let the agent look at the desktop and act on it (docs/computer-use.mdx).
             * @default false
             */
            desktop?: boolean;
        };
        /** UpdateSessionBody */
        UpdateSessionBody: {
            /**
             * @description Title to display.
             * @default null
             */
            title?: string | null;
            /**
             * @description Model to use.
             * @default null
             */
            model?: string | null;
            /**
             * @description Variant of the model, e.g. its reasoning effort.
             * @default null
             */
            variant?: string | null;
            /**
             * @description Mode of the agent: `build`, `plan`, or another mode it reports.
             * @default null
             */
            agentMode?: string | null;
            /**
             * @description When the agent asks: with `default`, before it writes or runs anything; with `acceptEdits`, not for plain edits inside the directory; with `bypass`, never. `plan` is read-only.
             * @default null
             */
            permissionMode?: ("acceptEdits" | "bypass" | "default" | "plan") | null;
            /**
             * @description Replaces the session's rules.
             * @default null
             */
            policy?: components["schemas"]["PolicyRule"][] | null;
            /**
             * @description Limits to change; null removes one, the others stay.
             * @default null
             */
            limits?: components["schemas"]["Limits"] | null;
        };
        /** SendMessageBody */
        SendMessageBody: {
            /** @description The prompt. On the command line, `-` reads it from stdin. */
            message: string;
            /**
             * @description Files to send with the message.
             * @default []
             */
            attachments?: components["schemas"]["Attachment"][];
            /**
             * @description Start a new conversation if the agent no longer has this one.
             * @default false
             */
            fresh?: boolean;
            /**
             * @description Run the message as a command of the agent, e.g. `/compact`; otherwise it is plain text.
             * @default false
             */
            command?: boolean;
            /**
             * @description `carried`: continue from the conversation stored in the log, even if it lacks the last turns.
             * @default null
             */
            resume?: "carried" | null;
            /**
             * @description Your own id for the message; its item has it as `native_item_id`.
             * @default null
             */
            clientId?: string | null;
        };
        /** ReplyPermissionBody */
        ReplyPermissionBody: {
            /**
             * @description `once`, `always` (for this session) or `reject`.
             * @enum {unknown}
             */
            reply: "accept" | "accept_for_session" | "always" | "approved" | "denied" | "once" | "reject";
            /**
             * @description Message for the agent.
             * @default null
             */
            message?: string | null;
        };
        /** ReplyQuestionBody */
        ReplyQuestionBody: {
            /** @description For each question, the chosen labels or free text. */
            answers: string[][];
        };
        /** RevertChangesBody */
        RevertChangesBody: {
            /**
             * @description Files to revert, as listed by `changes`; or use `all`.
             * @default null
             */
            paths?: string[] | null;
            /**
             * @description Revert every changed file.
             * @default false
             */
            all?: boolean;
            /**
             * @description Tags from `changes`, by path. If a file has another tag by now, the request is refused.
             * @default null
             */
            etags?: {
                [key: string]: string;
            } | null;
        };
        /** RunCommandBody */
        RunCommandBody: {
            /**
             * @description Text after the name.
             * @default null
             */
            arguments?: string | null;
            /**
             * @description Start a new conversation if the agent no longer has this one.
             * @default false
             */
            fresh?: boolean;
        };
        /** SetMcpBody */
        SetMcpBody: {
            /**
             * @description `local` with `command`, or `remote` with `url`.
             * @default null
             */
            type?: ("http" | "local" | "remote" | "stdio") | null;
            /**
             * @description Program of a local server.
             * @default null
             */
            command?: string | null;
            /**
             * @description Arguments of the program.
             * @default null
             */
            args?: string[] | null;
            /**
             * @description Environment variables of the program.
             * @default null
             */
            env?: {
                [key: string]: string;
            } | null;
            /**
             * @description Working directory of the program, relative to the session's.
             * @default null
             */
            cwd?: string | null;
            /**
             * @description URL of a remote server.
             * @default null
             */
            url?: string | null;
            /**
             * @description How to talk to the URL (default: `http`).
             * @default null
             */
            transport?: ("http" | "sse") | null;
            /**
             * @description Headers for the URL.
             * @default null
             */
            headers?: {
                [key: string]: string;
            } | null;
            /**
             * @description Headers whose values are in variables.
             * @default null
             */
            envHeaders?: {
                [key: string]: string;
            } | null;
            /**
             * @description Variable with the token for the header `Authorization`.
             * @default null
             */
            bearerTokenEnvVar?: string | null;
            /**
             * @description `false` leaves the server out.
             * @default null
             */
            enabled?: boolean | null;
            /**
             * @description How long a tool call may take, if the agent lets clients choose it.
             * @default null
             */
            timeoutMs?: number | null;
            /**
             * @description Not supported: send a token in a header.
             * @default null
             */
            oauth?: {
                [key: string]: string;
            } | null;
        };
        /** SetSkillsBody */
        SetSkillsBody: {
            /** @description Where the skills come from. */
            sources: components["schemas"]["SkillSource"][];
        };
        /** StartDesktopBody */
        StartDesktopBody: {
            /**
             * @description Width in pixels (default 1280).
             * @default null
             */
            width?: number | null;
            /**
             * @description Height in pixels (default 800).
             * @default null
             */
            height?: number | null;
            /**
             * @description Dots per inch (default 96).
             * @default null
             */
            dpi?: number | null;
            /**
             * @description Display number (default: a free one).
             * @default null
             */
            displayNum?: number | null;
            /**
             * @description Frames per second of recordings that do not set their own (default 15).
             * @default null
             */
            recordingFps?: number | null;
            /**
             * @description Has no effect: files are in the data directory.
             * @default null
             */
            stateDir?: string | null;
            /**
             * @description Has no effect: it is for WebRTC.
             * @default null
             */
            streamFrameRate?: number | null;
            /**
             * @description Has no effect: it is for WebRTC.
             * @default null
             */
            streamVideoCodec?: string | null;
            /**
             * @description Has no effect: it is for WebRTC.
             * @default null
             */
            streamAudioCodec?: string | null;
            /**
             * @description Has no effect: it is for WebRTC.
             * @default null
             */
            webrtcPortRange?: string | null;
        };
        /** MoveMouseBody */
        MoveMouseBody: {
            /** @description Pixels from the left edge. */
            x: number;
            /** @description Pixels from the top edge. */
            y: number;
        };
        /** ClickBody */
        ClickBody: {
            /** @description Pixels from the left edge. */
            x: number;
            /** @description Pixels from the top edge. */
            y: number;
            /**
             * @description Mouse button (default: left).
             * @default null
             */
            button?: ("left" | "middle" | "right") | null;
            /**
             * @description 2 is a double click (default 1).
             * @default null
             */
            clickCount?: number | null;
        };
        /** ButtonActionBody */
        ButtonActionBody: {
            /**
             * @description Where to move first.
             * @default null
             */
            x?: number | null;
            /**
             * @description Where to move first.
             * @default null
             */
            y?: number | null;
            /**
             * @description Mouse button (default: left).
             * @default null
             */
            button?: ("left" | "middle" | "right") | null;
        };
        /** DragBody */
        DragBody: {
            /** @description Pixels from the left edge. */
            startX: number;
            /** @description Pixels from the top edge. */
            startY: number;
            /** @description Pixels from the left edge. */
            endX: number;
            /** @description Pixels from the top edge. */
            endY: number;
            /**
             * @description Mouse button (default: left).
             * @default null
             */
            button?: ("left" | "middle" | "right") | null;
        };
        /** ScrollBody */
        ScrollBody: {
            /** @description Pixels from the left edge. */
            x: number;
            /** @description Pixels from the top edge. */
            y: number;
            /**
             * @description Steps to the right; negative to the left.
             * @default null
             */
            deltaX?: number | null;
            /**
             * @description Steps down; negative up.
             * @default null
             */
            deltaY?: number | null;
        };
        /** TypeTextBody */
        TypeTextBody: {
            /** @description Text in any script; a line feed is Return. */
            text: string;
            /**
             * @description Milliseconds between two characters (default 5).
             * @default null
             */
            delayMs?: number | null;
        };
        /** PressKeyBody */
        PressKeyBody: {
            /** @description A key, e.g. `a`, `Return`, `F5`, or several: `ctrl+c`. */
            key: string;
            /**
             * @description Modifier keys to hold.
             * @default null
             */
            modifiers?: components["schemas"]["KeyModifiers"] | null;
        };
        /** KeyModifiers */
        KeyModifiers: {
            /** @default null */
            alt?: boolean | null;
            /** @default null */
            cmd?: boolean | null;
            /** @default null */
            ctrl?: boolean | null;
            /** @default null */
            shift?: boolean | null;
        };
        /** KeyActionBody */
        KeyActionBody: {
            /** @description A key, e.g. `a`, `Return`, `F5`, or several: `ctrl+c`. */
            key: string;
        };
        /** MoveWindowBody */
        MoveWindowBody: {
            /** @description Left edge of its content. */
            x: number;
            /** @description Top edge of its content. */
            y: number;
        };
        /** ResizeWindowBody */
        ResizeWindowBody: {
            /** @description Width of its content. */
            width: number;
            /** @description Height of its content. */
            height: number;
        };
        /** SetClipboardBody */
        SetClipboardBody: {
            /** @description Text to copy. */
            text: string;
            /**
             * @description `clipboard` (default) or `primary`.
             * @default null
             */
            selection?: ("clipboard" | "primary") | null;
        };
        /** LaunchAppBody */
        LaunchAppBody: {
            /** @description Program: a path, or a name to find on PATH. */
            app: string;
            /**
             * @description Its arguments.
             * @default null
             */
            args?: string[] | null;
            /**
             * @description Wait for its first window.
             * @default null
             */
            wait?: boolean | null;
        };
        /** OpenTargetBody */
        OpenTargetBody: {
            /** @description Absolute path of a file, or a URL. */
            target: string;
        };
        /** StartRecordingBody */
        StartRecordingBody: {
            /**
             * @description Frames per second.
             * @default null
             */
            fps?: number | null;
        };
        /** MoveEntryBody */
        MoveEntryBody: {
            /** @description Path to move. */
            from: string;
            /** @description New path. Missing directories are created. */
            to: string;
            /**
             * @description Replace an existing target.
             * @default null
             */
            overwrite?: boolean | null;
            /**
             * @description Session whose directory relative paths start from.
             * @default null
             */
            sessionId?: string | null;
        };
        /** TestPolicyBody */
        TestPolicyBody: {
            /** @description Agent that would make the request, e.g. `claude`. */
            agent: string;
            /** @description Input of the tool as JSON, or just its command, file or URL as text. */
            input: unknown;
            /**
             * @description The agent's name for the tool, e.g. `Bash`.
             * @default null
             */
            tool?: string | null;
            /**
             * @description What the tool does, if `tool` is not given.
             * @default null
             */
            kind?: ("command" | "edit" | "fetch" | "mcp" | "other" | "read" | "search" | "task") | null;
            /**
             * @description Directory of the session (default: the daemon's).
             * @default null
             */
            directory?: string | null;
            /**
             * @description When the agent asks: with `default`, before it writes or runs anything; with `acceptEdits`, not for plain edits inside the directory; with `bypass`, never. `plan` is read-only.
             * @default default
             * @enum {unknown}
             */
            permissionMode?: "acceptEdits" | "bypass" | "default" | "plan";
            /**
             * @description Rules of the session, after the operator's.
             * @default []
             */
            policy?: components["schemas"]["PolicyRule"][];
        };
        /** CreateProcessBody */
        CreateProcessBody: {
            /** @description Program to run: a path, or a name to find on PATH. */
            command: string;
            /**
             * @description Arguments of the program.
             * @default []
             */
            args?: string[];
            /**
             * @description Working directory (default: the daemon's).
             * @default null
             */
            cwd?: string | null;
            /**
             * @description Environment variables in addition to the daemon's.
             * @default {}
             */
            env?: {
                [key: string]: string;
            };
            /**
             * @description Run it in a terminal.
             * @default false
             */
            tty?: boolean;
            /**
             * @description Columns of the terminal.
             * @default 80
             */
            cols?: number;
            /**
             * @description Rows of the terminal.
             * @default 24
             */
            rows?: number;
            /**
             * @description Mark the process as interactive; it accepts input either way.
             * @default false
             */
            interactive?: boolean;
            /**
             * @description Keep all unread output: when the log is full, the process waits until a reader follows it.
             * @default false
             */
            hold?: boolean;
        };
        /** RunProcessBody */
        RunProcessBody: {
            /** @description Program to run: a path, or a name to find on PATH. */
            command: string;
            /**
             * @description Arguments of the program.
             * @default []
             */
            args?: string[];
            /**
             * @description Working directory (default: the daemon's).
             * @default null
             */
            cwd?: string | null;
            /**
             * @description Environment variables in addition to the daemon's.
             * @default {}
             */
            env?: {
                [key: string]: string;
            };
            /**
             * @description Time limit in milliseconds; `config` has the default and the maximum.
             * @default null
             */
            timeoutMs?: number | null;
            /**
             * @description Bytes of each stream to keep; `config` has the maximum.
             * @default null
             */
            maxOutputBytes?: number | null;
        };
        /** ConfigureProcessesBody */
        ConfigureProcessesBody: {
            /** @description The maximum number of running processes; `run` does not count. */
            maxConcurrentProcesses: number;
            /** @description How long `run` waits by default. */
            defaultRunTimeoutMs: number;
            /** @description The longest timeout that `run` accepts. */
            maxRunTimeoutMs: number;
            /** @description Bytes of each stream that `run` keeps. */
            maxOutputBytes: number;
            /** @description Bytes of output kept for each process; the oldest are dropped. */
            maxLogBytesPerProcess: number;
            /** @description Bytes that one request may write to a process. */
            maxInputBytesPerRequest: number;
        };
        /** WriteInputBody */
        WriteInputBody: {
            /** @description Data to write. */
            data: string;
            /**
             * @description Encoding of `data`: `base64` (default), `utf8` or `text`.
             * @default null
             */
            encoding?: string | null;
            /**
             * @description Close the input afterwards; a terminal gets Ctrl-D.
             * @default false
             */
            eof?: boolean;
        };
        /** ResizeTerminalBody */
        ResizeTerminalBody: {
            /** @description Columns. */
            cols: number;
            /** @description Rows. */
            rows: number;
        };
        /** ReplyToolCallBody */
        ReplyToolCallBody: {
            /**
             * @description What the tool returned.
             * @default null
             */
            output?: string | null;
            /**
             * @description Why it failed, instead of `output`.
             * @default null
             */
            error?: string | null;
            /**
             * @description Images to return with the output.
             * @default []
             */
            images?: components["schemas"]["ToolImage"][];
        };
        /** ToolImage */
        ToolImage: {
            /** @description The image, encoded in base64. */
            data: string;
            /** @description Media type, e.g. `image/png`. */
            mime?: string;
        };
        /** SessionStarted */
        SessionStarted: {
            /** @default null */
            metadata?: components["schemas"]["SessionMetadata"] | null;
        };
        /** SessionMetadata */
        SessionMetadata: {
            agent: string;
            /** @default null */
            agentVersion?: string | null;
            /** @default null */
            agentMode?: string | null;
            /** @default null */
            permissionMode?: string | null;
            /** @default null */
            model?: string | null;
            /** @default null */
            variant?: string | null;
            /** @default null */
            directory?: string | null;
        };
        /** SessionEnded */
        SessionEnded: {
            /** @enum {unknown} */
            reason: "completed" | "error" | "terminated";
            /** @enum {unknown} */
            terminated_by: "agent" | "daemon";
            /** @default null */
            message?: string | null;
            /** @default null */
            exit_code?: number | null;
            /** @default null */
            stderr?: components["schemas"]["Stderr"] | null;
        };
        /**
         * Stderr
         * @description What an agent wrote to stderr: all of it in `head` if short, else its beginning and end.
         */
        Stderr: {
            truncated: boolean;
            /** @default null */
            head?: string | null;
            /** @default null */
            tail?: string | null;
            /** @default null */
            total_lines?: number | null;
        };
        /** TurnStarted */
        TurnStarted: {
            turn_id: string;
            /** @enum {unknown} */
            phase?: "started";
            /** @default null */
            metadata?: Record<string, unknown> | null;
        };
        /** TurnEnded */
        TurnEnded: {
            turn_id: string;
            metadata: components["schemas"]["TurnMetadata"];
            /** @enum {unknown} */
            phase?: "ended";
        };
        /** TurnMetadata */
        TurnMetadata: {
            /** @enum {unknown} */
            stop_reason: "end_turn" | "error" | "interrupted" | "limit" | "max_tokens" | "outcome_unknown" | "refusal";
            duration_ms: number;
            /** @default null */
            usage?: components["schemas"]["Usage"] | null;
            waiting_ms?: number;
        };
        /**
         * Usage
         * @description Tokens and cost; what the agent does not report is absent. Input includes cache, output includes reasoning.
         */
        Usage: {
            /** @default null */
            input_tokens?: number | null;
            /** @default null */
            output_tokens?: number | null;
            /** @default null */
            cache_read_tokens?: number | null;
            /** @default null */
            cache_write_tokens?: number | null;
            /** @default null */
            reasoning_tokens?: number | null;
            /** @default null */
            cost_usd?: number | null;
            /** @default null */
            context_tokens?: number | null;
            /** @default null */
            context_window?: number | null;
        };
        /** ItemStarted */
        ItemStarted: {
            item: components["schemas"]["Item"];
        };
        /** Item */
        Item: {
            item_id: string;
            native_item_id: string | null;
            parent_id: string | null;
            /** @enum {unknown} */
            kind: "message" | "status" | "system" | "tool_call" | "tool_result" | "unknown";
            role: ("assistant" | "system" | "tool" | "user") | null;
            /** @enum {unknown} */
            status: "completed" | "failed" | "in_progress";
            /** @default [] */
            content?: (components["schemas"]["Text"] | components["schemas"]["Json"] | components["schemas"]["ToolCall"] | components["schemas"]["ToolResult"] | components["schemas"]["FileRef"] | components["schemas"]["Image"] | components["schemas"]["Reasoning"] | components["schemas"]["StatusPart"])[];
        };
        /** Text */
        Text: {
            /** @enum {unknown} */
            type: "text";
            text: string;
        };
        /** Json */
        Json: {
            /** @enum {unknown} */
            type: "json";
            json: unknown;
        };
        /** ToolCall */
        ToolCall: {
            /** @enum {unknown} */
            type: "tool_call";
            name: string;
            arguments: string;
            call_id: string;
            /** @enum {unknown} */
            kind?: "command" | "edit" | "fetch" | "mcp" | "other" | "read" | "search" | "task";
            title?: string;
        };
        /** ToolResult */
        ToolResult: {
            /** @enum {unknown} */
            type: "tool_result";
            call_id: string;
            output: string;
            /** @default null */
            exit_code?: number | null;
        };
        /** FileRef */
        FileRef: {
            /** @enum {unknown} */
            type: "file_ref";
            path: string;
            /** @enum {unknown} */
            action: "delete" | "move" | "patch" | "read" | "write";
            /** @default null */
            to?: string | null;
            /** @default null */
            diff?: string | null;
        };
        /** Image */
        Image: {
            /** @enum {unknown} */
            type: "image";
            path: string;
            /** @default null */
            mime?: string | null;
        };
        /** Reasoning */
        Reasoning: {
            /** @enum {unknown} */
            type: "reasoning";
            text: string;
            /** @enum {unknown} */
            visibility: "private" | "public";
        };
        /** StatusPart */
        StatusPart: {
            /** @enum {unknown} */
            type: "status";
            label: string;
            /** @default null */
            detail?: string | null;
        };
        /**
         * ItemDelta
         * @description A piece of an item, with what is needed to show it without the item.
         */
        ItemDelta: {
            item_id: string;
            native_item_id: string | null;
            delta: string;
            /**
             * @default message
             * @enum {unknown}
             */
            kind?: "message" | "status" | "system" | "tool_call" | "tool_result" | "unknown";
            /** @default assistant */
            role?: ("assistant" | "system" | "tool" | "user") | null;
            /** @enum {unknown} */
            visibility?: "private" | "public";
            parent_id?: string;
        };
        /** ItemCompleted */
        ItemCompleted: {
            item: components["schemas"]["Item"];
        };
        /** PermissionResolved */
        PermissionResolved: {
            permission_id: string;
            action: string;
            /** @enum {unknown} */
            status: "accept" | "accept_for_session" | "reject" | "requested";
            metadata: components["schemas"]["PermissionMetadata"];
        };
        /** QuestionResolved */
        QuestionResolved: {
            question_id: string;
            prompt: string;
            options: string[];
            /** @enum {unknown} */
            status: "answered" | "rejected" | "requested";
            metadata: components["schemas"]["QuestionMetadata"];
            /** @default null */
            response?: string | null;
        };
        /** ErrorEvent */
        ErrorEvent: {
            message: string;
            /** @default null */
            code?: ("agent_error" | "agent_process_exited" | "authentication_failed" | "connection_failed" | "context_too_long" | "invalid_request" | "model_not_found" | "overloaded" | "rate_limited" | "refusal" | "server_error") | null;
            /** @default null */
            details?: Record<string, unknown> | null;
        };
        /** AgentUnparsed */
        AgentUnparsed: {
            error: string;
            location: string;
            /** @default null */
            raw_hash?: string | null;
        };
        /**
         * session.started
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        SessionStartedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "session.started";
            data: components["schemas"]["SessionStarted"];
            /** @default null */
            raw: unknown;
        };
        /**
         * session.ended
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        SessionEndedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "session.ended";
            data: components["schemas"]["SessionEnded"];
            /** @default null */
            raw: unknown;
        };
        /**
         * turn.started
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        TurnStartedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "turn.started";
            data: components["schemas"]["TurnStarted"];
            /** @default null */
            raw: unknown;
        };
        /**
         * turn.ended
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        TurnEndedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "turn.ended";
            data: components["schemas"]["TurnEnded"];
            /** @default null */
            raw: unknown;
        };
        /**
         * item.started
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        ItemStartedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "item.started";
            data: components["schemas"]["ItemStarted"];
            /** @default null */
            raw: unknown;
        };
        /**
         * item.delta
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        ItemDeltaEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "item.delta";
            data: components["schemas"]["ItemDelta"];
            /** @default null */
            raw: unknown;
        };
        /**
         * item.completed
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        ItemCompletedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "item.completed";
            data: components["schemas"]["ItemCompleted"];
            /** @default null */
            raw: unknown;
        };
        /**
         * permission.requested
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        PermissionRequestedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "permission.requested";
            data: components["schemas"]["PermissionRequested"];
            /** @default null */
            raw: unknown;
        };
        /**
         * permission.resolved
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        PermissionResolvedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "permission.resolved";
            data: components["schemas"]["PermissionResolved"];
            /** @default null */
            raw: unknown;
        };
        /**
         * question.requested
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        QuestionRequestedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "question.requested";
            data: components["schemas"]["QuestionRequested"];
            /** @default null */
            raw: unknown;
        };
        /**
         * question.resolved
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        QuestionResolvedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "question.resolved";
            data: components["schemas"]["QuestionResolved"];
            /** @default null */
            raw: unknown;
        };
        /**
         * error
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        ErrorEventEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "error";
            data: components["schemas"]["ErrorEvent"];
            /** @default null */
            raw: unknown;
        };
        /**
         * agent.unparsed
         * @description The envelope. `raw` is last, and stored as null: it is spliced in for readers that ask for it.
         */
        AgentUnparsedEnvelope: {
            event_id: string;
            sequence: number;
            /** @description ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`. */
            time: string;
            session_id: string;
            native_session_id: string | null;
            /** @enum {unknown} */
            source: "agent" | "daemon";
            synthetic: boolean;
            /** @constant */
            type: "agent.unparsed";
            data: components["schemas"]["AgentUnparsed"];
            /** @default null */
            raw: unknown;
        };
        Event: components["schemas"]["SessionStartedEnvelope"] | components["schemas"]["SessionEndedEnvelope"] | components["schemas"]["TurnStartedEnvelope"] | components["schemas"]["TurnEndedEnvelope"] | components["schemas"]["ItemStartedEnvelope"] | components["schemas"]["ItemDeltaEnvelope"] | components["schemas"]["ItemCompletedEnvelope"] | components["schemas"]["PermissionRequestedEnvelope"] | components["schemas"]["PermissionResolvedEnvelope"] | components["schemas"]["QuestionRequestedEnvelope"] | components["schemas"]["QuestionResolvedEnvelope"] | components["schemas"]["ErrorEventEnvelope"] | components["schemas"]["AgentUnparsedEnvelope"];
        /**
         * Problem
         * @description RFC 9457 problem details, with facts as additional members.
         */
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            instance?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "agents.list": {
        parameters: {
            query?: {
                /** @description Include what a session may choose: models, modes, variants, permissions. */
                config?: boolean;
                /** @description Accepted for older clients. It has no effect. */
                noCache?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "agents.get": {
        parameters: {
            query?: {
                /** @description Include what a session may choose: models, modes, variants, permissions. */
                config?: boolean;
                /** @description Accepted for older clients. It has no effect. */
                noCache?: boolean;
            };
            header?: never;
            path: {
                /** @description Name of the agent, e.g. `claude`. */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentInfo"];
                };
            };
            /** @description `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "agents.install": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the agent, e.g. `claude`. */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["InstallAgentBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Installed"];
                    "text/event-stream": string;
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `install_failed` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "agents.modes": {
        parameters: {
            query?: {
                /** @description Working directory of the agent (default: the daemon's). */
                directory?: string | null;
            };
            header?: never;
            path: {
                /** @description Name of the agent, e.g. `claude`. */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Modes"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "agents.models": {
        parameters: {
            query?: {
                /** @description Working directory of the agent (default: the daemon's). */
                directory?: string | null;
            };
            header?: never;
            path: {
                /** @description Name of the agent, e.g. `claude`. */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Models"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "agents.commands": {
        parameters: {
            query?: {
                /** @description Working directory of the agent (default: the daemon's). */
                directory?: string | null;
            };
            header?: never;
            path: {
                /** @description Name of the agent, e.g. `claude`. */
                agent: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Commands"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfo"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.create": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSessionBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedSession"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` or `mode_not_supported` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_already_exists` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `install_failed` or `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` or `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateSessionBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfo"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` or `mode_not_supported` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.list": {
        parameters: {
            query?: {
                /** @description Sessions per page. */
                limit?: number;
                /** @description `nextCursor` of the previous page. */
                cursor?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.new": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionSettingsBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedSession"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` or `mode_not_supported` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_already_exists` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `install_failed` or `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` or `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.send_message": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated key returns the same turn. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessageBody"];
            };
        };
        responses: {
            /** @description The response. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentMessage"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` or `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_mismatch` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.cancel": {
        parameters: {
            query?: {
                /** @description Cancel only this turn, or withdraw it if it is queued; without effect if it is over. */
                turnId?: string | null;
            };
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.terminate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.suspend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.mcp": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServerList"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.skills": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillList"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.queue": {
        parameters: {
            query?: {
                /** @description Maximum number of messages to return. */
                limit?: number;
                /** @description `nextCursor` of the previous page. */
                cursor?: string | null;
            };
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queue"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
                /** @description Turn of the queued message. */
                turn_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `session_not_found` or `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "permissions.list": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionList"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "questions.list": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuestionList"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "permissions.reply": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
                /** @description Id of the pending permission. */
                permission_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplyPermissionBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` or `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "questions.reply": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
                /** @description Id of the pending question. */
                question_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplyQuestionBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` or `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "questions.reject": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
                /** @description Id of the pending question. */
                question_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `session_not_found` or `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "attachments.upload": {
        parameters: {
            query?: {
                /** @description Name of the file. */
                filename?: string | null;
            };
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoredAttachment"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "attachments.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
                /** @description Last part of the attachment's path. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description `session_not_found` or `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "changes.list": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeList"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "changes.revert": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RevertChangesBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reverted"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "changes.undo": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reverted"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.commands": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Commands"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` or `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.run_command": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated key returns the same turn. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
                /** @description Name of the command, without the slash; no spaces. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunCommandBody"];
            };
        };
        responses: {
            /** @description The response. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentMessage"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` or `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_mismatch` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.compact": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated key returns the same turn. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentMessage"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` or `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_mismatch` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "config.get_mcp": {
        parameters: {
            query: {
                /** @description Absolute path of the directory. */
                directory: string;
                /** @description Name of the MCP server. */
                mcpName: string;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["McpServer"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "config.set_mcp": {
        parameters: {
            query: {
                /** @description Absolute path of the directory. */
                directory: string;
                /** @description Name of the MCP server. */
                mcpName: string;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SetMcpBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "config.delete_mcp": {
        parameters: {
            query: {
                /** @description Absolute path of the directory. */
                directory: string;
                /** @description Name of the MCP server. */
                mcpName: string;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "config.get_skills": {
        parameters: {
            query: {
                /** @description Absolute path of the directory. */
                directory: string;
                /** @description Name of the entry. */
                skillName: string;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillsConfig"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "config.set_skills": {
        parameters: {
            query: {
                /** @description Absolute path of the directory. */
                directory: string;
                /** @description Name of the entry. */
                skillName: string;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetSkillsBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "config.delete_skills": {
        parameters: {
            query: {
                /** @description Absolute path of the directory. */
                directory: string;
                /** @description Name of the entry. */
                skillName: string;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.status": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopStatus"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.start": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartDesktopBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopStatus"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` or `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.stop": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopStatus"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.info": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DisplayInfo"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.screenshot": {
        parameters: {
            query?: {
                /** @description Format of the picture (default: png). */
                format?: ("jpeg" | "png" | "webp") | null;
                /** @description Quality of jpeg and webp (default 85). */
                quality?: number | null;
                /** @description Size of the picture (default 1). */
                scale?: number | null;
                /** @description Draw the mouse cursor. */
                showCursor?: boolean | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.region": {
        parameters: {
            query: {
                /** @description Pixels from the left edge. */
                x: number;
                /** @description Pixels from the top edge. */
                y: number;
                /** @description Width in pixels. */
                width: number;
                /** @description Height in pixels. */
                height: number;
                /** @description Format of the picture (default: png). */
                format?: ("jpeg" | "png" | "webp") | null;
                /** @description Quality of jpeg and webp (default 85). */
                quality?: number | null;
                /** @description Size of the picture (default 1). */
                scale?: number | null;
                /** @description Draw the mouse cursor. */
                showCursor?: boolean | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.mouse": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MousePosition"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.move": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveMouseBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MousePosition"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.click": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClickBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MousePosition"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.mouse_down": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ButtonActionBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MousePosition"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.mouse_up": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ButtonActionBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MousePosition"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.drag": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DragBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MousePosition"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.scroll": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScrollBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MousePosition"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.type": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TypeTextBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopDone"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.press": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PressKeyBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopDone"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.key_down": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyActionBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopDone"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.key_up": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyActionBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopDone"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.windows": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowList"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.focused": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowInfo"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `window_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.focus": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the window. */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowInfo"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `window_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.move_window": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the window. */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveWindowBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowInfo"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `window_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.resize_window": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the window. */
                window_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResizeWindowBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowInfo"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `window_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.clipboard": {
        parameters: {
            query?: {
                /** @description `clipboard` (default), or `primary`: the current selection. */
                selection?: ("clipboard" | "primary") | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClipboardText"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.set_clipboard": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetClipboardBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DesktopDone"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.launch": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LaunchAppBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LaunchedApp"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `app_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` or `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.open": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenTargetBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedTarget"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` or `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.record": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartRecordingBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordingInfo"];
                };
            };
            /** @description `desktop_invalid_action` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` or `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.stop_recording": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordingInfo"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.recordings": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordingList"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.recording": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the recording, e.g. `rec_1`. */
                recording_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordingInfo"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.delete_recording": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the recording, e.g. `rec_1`. */
                recording_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.download_recording": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the recording, e.g. `rec_1`. */
                recording_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.stream": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamStatus"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.start_stream": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamStatus"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_inactive` or `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `desktop_runtime_failed` or `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "desktop.stop_stream": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StreamStatus"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.events": {
        parameters: {
            query?: {
                /** @description Sequence of the last event you have seen. */
                offset?: number;
                /** @description Maximum number of events to return; a page is also limited in bytes. */
                limit?: number;
                /** @description Include the native payload of each event. */
                includeRaw?: boolean;
            };
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.events_sse": {
        parameters: {
            query?: {
                /** @description Sequence of the last event you have seen. */
                offset?: number;
                /** @description Include the native payload of each event. */
                includeRaw?: boolean;
            };
            header?: {
                /** @description Id of the last event received; takes precedence over `offset`. */
                "Last-Event-ID"?: string | null;
            };
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description There are no more events. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "events.sse": {
        parameters: {
            query?: {
                /** @description Position in the log of all sessions (default: the end). */
                offset?: number | null;
            };
            header?: {
                /** @description Id of the last event received; takes precedence over `offset`. */
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "sessions.stream_message": {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated key returns the same turn. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendMessageBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` or `agent_not_installed` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_mismatch` */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `agent_process_exited` */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `stream_error` */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `timeout` */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.entries": {
        parameters: {
            query?: {
                /** @description Directory (default: the one that relative paths start from). */
                path?: string | null;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Entries per page. Without it, the response is a list of all entries. */
                limit?: number | null;
                /** @description `nextCursor` of the previous page. */
                cursor?: string | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileEntry"][] | components["schemas"]["EntryPage"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.stat": {
        parameters: {
            query: {
                /** @description Absolute path, or relative to the session's directory (without a session: to the daemon user's home). */
                path: string;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileStat"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.read": {
        parameters: {
            query: {
                /** @description Absolute path, or relative to the session's directory (without a session: to the daemon user's home). */
                path: string;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: {
                /** @description Part of the file, e.g. `bytes=0-99`. */
                Range?: string | null;
                /** @description Return 304 if the file still has this tag. */
                "If-None-Match"?: string | null;
                /** @description Use `Range` only if the file still has this tag. */
                "If-Range"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The range that was asked for. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The client has it already. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `range_not_satisfiable` */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.write": {
        parameters: {
            query: {
                /** @description Absolute path, or relative to the session's directory (without a session: to the daemon user's home). */
                path: string;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: {
                /** @description Write only if the file still has this tag; `*` writes only if the file exists. */
                "If-Match"?: string | null;
                /** @description `*` writes only if there is no such file; a tag, only if the file no longer has it. */
                "If-None-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileWritten"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `precondition_failed` */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.download": {
        parameters: {
            query?: {
                /** @description Directory (default: the one that relative paths start from). */
                path?: string | null;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Format of the archive. */
                format?: "tar" | "zip";
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.search": {
        parameters: {
            query?: {
                /** @description Directory (default: the one that relative paths start from). */
                path?: string | null;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Names to match, as in .gitignore: `*.py` at any depth, `src/**\/test_*`. */
                glob?: string | null;
                /** @description Text to find; every line that contains it is a match. */
                text?: string | null;
                /** @description Python regular expression to find, instead of `text`. */
                regex?: string | null;
                /** @description Ignore case. */
                ignoreCase?: boolean;
                /** @description Include files ignored by .gitignore. */
                ignored?: boolean;
                /** @description Maximum number of matches to return. */
                limit?: number;
                /** @description Time limit in milliseconds. */
                timeoutMs?: number;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResult"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.watch": {
        parameters: {
            query?: {
                /** @description Directory (default: the one that relative paths start from). */
                path?: string | null;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.delete": {
        parameters: {
            query: {
                /** @description Absolute path, or relative to the session's directory (without a session: to the daemon user's home). */
                path: string;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Also delete a directory that is not empty. */
                recursive?: boolean;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileAction"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.mkdir": {
        parameters: {
            query: {
                /** @description Absolute path, or relative to the session's directory (without a session: to the daemon user's home). */
                path: string;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileAction"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.move": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveEntryBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileMoved"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "fs.upload_batch": {
        parameters: {
            query?: {
                /** @description Directory to unpack into; created if it does not exist. */
                path?: string | null;
                /** @description Session whose directory relative paths start from. */
                sessionId?: string | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-tar": unknown;
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Unpacked"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "nodes.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeList"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "nodes.fence": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of a node: 1 to 64 of A-Z a-z 0-9 . _ - */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "policy.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyList"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "policy.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestPolicyBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyVerdict"];
                };
            };
            /** @description `invalid_request` or `unsupported_agent` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.list": {
        parameters: {
            query?: {
                /** @description Only processes of this owner. */
                owner?: ("desktop" | "system" | "user") | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessList"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.create": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateProcessBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessInfo"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.run": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunProcessBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessRun"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.config": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessConfig"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.configure": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfigureProcessesBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessConfig"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.get": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the process, e.g. `proc_1`. */
                process_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessInfo"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.delete": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the process, e.g. `proc_1`. */
                process_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.stop": {
        parameters: {
            query?: {
                /** @description How long to wait for the exit, in milliseconds (default 2000). */
                waitMs?: number | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the process, e.g. `proc_1`. */
                process_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessInfo"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.kill": {
        parameters: {
            query?: {
                /** @description How long to wait for the exit, in milliseconds (default 2000). */
                waitMs?: number | null;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the process, e.g. `proc_1`. */
                process_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessInfo"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.logs": {
        parameters: {
            query?: {
                /** @description Output to read (default: both streams, or the terminal's). */
                stream?: ("combined" | "pty" | "stderr" | "stdout") | null;
                /** @description Sequence of the last entry you have seen. */
                since?: number;
                /** @description Only this many entries from the end. */
                tail?: number | null;
                /** @description Return a stream that continues until the process ends. */
                follow?: boolean;
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: {
                /** @description Id of the last entry received; takes precedence over `since`. */
                "Last-Event-ID"?: string | null;
            };
            path: {
                /** @description Id of the process, e.g. `proc_1`. */
                process_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessLogs"];
                    "text/event-stream": string;
                };
            };
            /** @description There are no more events. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.input": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the process, e.g. `proc_1`. */
                process_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WriteInputBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BytesWritten"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `payload_too_large` */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.resize": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the process, e.g. `proc_1`. */
                process_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResizeTerminalBody"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TerminalSize"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "processes.terminal": {
        parameters: {
            query?: {
                /** @description Node that the request is meant for; other nodes refuse it (default: any). */
                node?: string | null;
            };
            header?: never;
            path: {
                /** @description Id of the process, e.g. `proc_1`. */
                process_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `permission_denied` */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "system.health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "system.ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "system.metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "tool_calls.list": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolCallList"];
                };
            };
            /** @description `session_not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "tool_calls.reply": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The session's id: 1 to 128 of A-Z a-z 0-9 . _ : - */
                session_id: string;
                /** @description Id of the call. */
                call_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplyToolCallBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `session_not_found` or `not_found` */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `conflict` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    "usage.get": {
        parameters: {
            query?: {
                /** @description How to group the turns. */
                by?: "agent" | "day" | "model" | "session";
                /** @description Only turns that ended at this time or later: ISO 8601, UTC unless it has an offset. */
                from?: string | null;
                /** @description Only turns that ended before this time. */
                to?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
            /** @description `invalid_request` */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable` */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Any other problem, for example with the token, the host or the body. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}

/** Method and path of every operation. */
export const ROUTES = {
  "agents.list": "GET /v1/agents",
  "agents.get": "GET /v1/agents/{agent}",
  "agents.install": "POST /v1/agents/{agent}/install",
  "agents.modes": "GET /v1/agents/{agent}/modes",
  "agents.models": "GET /v1/agents/{agent}/models",
  "agents.commands": "GET /v1/agents/{agent}/commands",
  "sessions.create": "POST /v1/sessions/{session_id}",
  "sessions.get": "GET /v1/sessions/{session_id}",
  "sessions.update": "PATCH /v1/sessions/{session_id}",
  "sessions.delete": "DELETE /v1/sessions/{session_id}",
  "sessions.new": "POST /v1/sessions",
  "sessions.list": "GET /v1/sessions",
  "sessions.send_message": "POST /v1/sessions/{session_id}/messages",
  "sessions.cancel": "POST /v1/sessions/{session_id}/cancel",
  "sessions.terminate": "POST /v1/sessions/{session_id}/terminate",
  "sessions.suspend": "POST /v1/sessions/{session_id}/suspend",
  "sessions.mcp": "GET /v1/sessions/{session_id}/mcp",
  "sessions.skills": "GET /v1/sessions/{session_id}/skills",
  "sessions.queue": "GET /v1/sessions/{session_id}/queue",
  "sessions.withdraw": "DELETE /v1/sessions/{session_id}/queue/{turn_id}",
  "permissions.list": "GET /v1/sessions/{session_id}/permissions",
  "questions.list": "GET /v1/sessions/{session_id}/questions",
  "permissions.reply": "POST /v1/sessions/{session_id}/permissions/{permission_id}/reply",
  "questions.reply": "POST /v1/sessions/{session_id}/questions/{question_id}/reply",
  "questions.reject": "POST /v1/sessions/{session_id}/questions/{question_id}/reject",
  "attachments.upload": "POST /v1/sessions/{session_id}/attachments",
  "attachments.get": "GET /v1/sessions/{session_id}/attachments/{name}",
  "changes.list": "GET /v1/sessions/{session_id}/changes",
  "changes.revert": "POST /v1/sessions/{session_id}/changes/revert",
  "changes.undo": "POST /v1/sessions/{session_id}/changes/undo",
  "sessions.commands": "GET /v1/sessions/{session_id}/commands",
  "sessions.run_command": "POST /v1/sessions/{session_id}/commands/{name}",
  "sessions.compact": "POST /v1/sessions/{session_id}/compact",
  "config.get_mcp": "GET /v1/config/mcp",
  "config.set_mcp": "PUT /v1/config/mcp",
  "config.delete_mcp": "DELETE /v1/config/mcp",
  "config.get_skills": "GET /v1/config/skills",
  "config.set_skills": "PUT /v1/config/skills",
  "config.delete_skills": "DELETE /v1/config/skills",
  "desktop.status": "GET /v1/desktop/status",
  "desktop.start": "POST /v1/desktop/start",
  "desktop.stop": "POST /v1/desktop/stop",
  "desktop.info": "GET /v1/desktop/display/info",
  "desktop.screenshot": "GET /v1/desktop/screenshot",
  "desktop.region": "GET /v1/desktop/screenshot/region",
  "desktop.mouse": "GET /v1/desktop/mouse/position",
  "desktop.move": "POST /v1/desktop/mouse/move",
  "desktop.click": "POST /v1/desktop/mouse/click",
  "desktop.mouse_down": "POST /v1/desktop/mouse/down",
  "desktop.mouse_up": "POST /v1/desktop/mouse/up",
  "desktop.drag": "POST /v1/desktop/mouse/drag",
  "desktop.scroll": "POST /v1/desktop/mouse/scroll",
  "desktop.type": "POST /v1/desktop/keyboard/type",
  "desktop.press": "POST /v1/desktop/keyboard/press",
  "desktop.key_down": "POST /v1/desktop/keyboard/down",
  "desktop.key_up": "POST /v1/desktop/keyboard/up",
  "desktop.windows": "GET /v1/desktop/windows",
  "desktop.focused": "GET /v1/desktop/windows/focused",
  "desktop.focus": "POST /v1/desktop/windows/{window_id}/focus",
  "desktop.move_window": "POST /v1/desktop/windows/{window_id}/move",
  "desktop.resize_window": "POST /v1/desktop/windows/{window_id}/resize",
  "desktop.clipboard": "GET /v1/desktop/clipboard",
  "desktop.set_clipboard": "POST /v1/desktop/clipboard",
  "desktop.launch": "POST /v1/desktop/launch",
  "desktop.open": "POST /v1/desktop/open",
  "desktop.record": "POST /v1/desktop/recording/start",
  "desktop.stop_recording": "POST /v1/desktop/recording/stop",
  "desktop.recordings": "GET /v1/desktop/recordings",
  "desktop.recording": "GET /v1/desktop/recordings/{recording_id}",
  "desktop.delete_recording": "DELETE /v1/desktop/recordings/{recording_id}",
  "desktop.download_recording": "GET /v1/desktop/recordings/{recording_id}/download",
  "desktop.stream": "GET /v1/desktop/stream/status",
  "desktop.start_stream": "POST /v1/desktop/stream/start",
  "desktop.stop_stream": "POST /v1/desktop/stream/stop",
  "sessions.events": "GET /v1/sessions/{session_id}/events",
  "sessions.events_sse": "GET /v1/sessions/{session_id}/events/sse",
  "events.sse": "GET /v1/events/sse",
  "sessions.stream_message": "POST /v1/sessions/{session_id}/messages/stream",
  "fs.entries": "GET /v1/fs/entries",
  "fs.stat": "GET /v1/fs/stat",
  "fs.read": "GET /v1/fs/file",
  "fs.write": "PUT /v1/fs/file",
  "fs.download": "GET /v1/fs/download",
  "fs.search": "GET /v1/fs/search",
  "fs.watch": "GET /v1/fs/watch",
  "fs.delete": "DELETE /v1/fs/entry",
  "fs.mkdir": "POST /v1/fs/mkdir",
  "fs.move": "POST /v1/fs/move",
  "fs.upload_batch": "POST /v1/fs/upload-batch",
  "nodes.list": "GET /v1/nodes",
  "nodes.fence": "POST /v1/nodes/{name}/fence",
  "policy.show": "GET /v1/sessions/{session_id}/policy",
  "policy.test": "POST /v1/policy/test",
  "processes.list": "GET /v1/processes",
  "processes.create": "POST /v1/processes",
  "processes.run": "POST /v1/processes/run",
  "processes.config": "GET /v1/processes/config",
  "processes.configure": "POST /v1/processes/config",
  "processes.get": "GET /v1/processes/{process_id}",
  "processes.delete": "DELETE /v1/processes/{process_id}",
  "processes.stop": "POST /v1/processes/{process_id}/stop",
  "processes.kill": "POST /v1/processes/{process_id}/kill",
  "processes.logs": "GET /v1/processes/{process_id}/logs",
  "processes.input": "POST /v1/processes/{process_id}/input",
  "processes.resize": "POST /v1/processes/{process_id}/terminal/resize",
  "processes.terminal": "GET /v1/processes/{process_id}/terminal/ws",
  "system.health": "GET /v1/health",
  "system.ready": "GET /v1/ready",
  "system.metrics": "GET /metrics",
  "tool_calls.list": "GET /v1/sessions/{session_id}/tool-calls",
  "tool_calls.reply": "POST /v1/sessions/{session_id}/tool-calls/{call_id}/reply",
  "usage.get": "GET /v1/usage",
} as const satisfies Record<keyof operations, string>;
