/** A session's title, its settings, and its actions. */
import { useState } from "react";
import type { SessionInfo, Transcript } from "sandbox-agentd";
import { sayWhy } from "chat/state/words";
import { AgentMark } from "../parts/agentMark";
import { Button, IconButton } from "chat/parts/button";
import { copyText } from "chat/parts/copyButton";
import { Confirm } from "../parts/confirm";
import { Dialog } from "../parts/dialog";
import { count, money, share } from "chat/parts/format";
import { Menu } from "../parts/menu";
import { dialogOnDemand, loaded } from "../parts/onDemand";
import { Notice } from "chat/parts/notice";
import { StateBadge } from "../parts/stateBadge";
import { go } from "../route";
import { useSessionName } from "../sessions/useSessionName";
import { useWorkspace } from "../state/workspace";
import { LimitMeters } from "../usage/limitMeters";

const Settings = dialogOnDemand(() => import("./settings"));
const LimitsDialog = dialogOnDemand(() => import("./limitsDialog"));

interface Props {
  sessionId: string;
  info: SessionInfo | null;
  transcript: Transcript;
  panel: boolean;
  onPanel: () => void;
  searching: boolean;
  onSearch: () => void;
  showAll: boolean;
  onShowAll: () => void;
}

type Asking = "rename" | "settings" | "limits" | "terminate" | "delete" | null;

export function SessionHeader({ sessionId, info, transcript, panel, onPanel, searching, onSearch, showAll, onShowAll }: Props) {
  const { client } = useWorkspace();
  const name = useSessionName(info) ?? sessionId;
  const [asking, setAsking] = useState<Asking>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const change = async (act: () => Promise<unknown>) => {
    setFailure(null);
    try {
      await act();
    } catch (error) {
      setFailure(sayWhy(error));
    }
  };
  const state = info?.state ?? transcript.state;
  return (
    <header className="sessionHead">
      <IconButton icon="back" label="Sessions" className="phoneOnly" onClick={() => go(null)} />
      {info && <AgentMark agent={info.agent} size={26} />}
      <div className="sessionHeadText">
        <h2 title={name} dir="auto">{name}</h2>
        <p className="sessionFacts">
          <StateBadge state={state} />
          {info && <Facts info={info} version={transcript.metadata?.agentVersion ?? null} />}
        </p>
      </div>
      <IconButton icon="search" label="Search the transcript (Ctrl F)" aria-pressed={searching} onClick={onSearch} />
      <IconButton icon="panel" label="Panel (Alt D)" aria-pressed={panel} onClick={onPanel} />
      <Menu
        label="Session menu"
        items={[
          { label: "Rename", icon: "edit", onChoose: () => setAsking("rename"), disabled: !info },
          { label: "Model and mode", icon: "robot", onChoose: () => setAsking("settings"), disabled: !info || info.ended },
          { label: "Limits", icon: "clock", onChoose: () => setAsking("limits"), disabled: !info || info.ended },
          { label: "Copy the id", icon: "copy", onChoose: () => void change(() => copyText(sessionId)) },
          { label: "Export as Markdown", icon: "download", onChoose: () => void change(() => saveMarkdown(transcript, info, name)), disabled: !info },
          { label: showAll ? "Hide quiet statuses" : "Show every status", icon: "list", onChoose: onShowAll },
          { label: "Terminate", icon: "stop", onChoose: () => setAsking("terminate"), disabled: !info || info.ended },
          { label: "Delete", icon: "trash", danger: true, onChoose: () => setAsking("delete"), disabled: !info },
        ]}
      />
      {failure && (
        <div className="headNotice">
          <Notice>{failure}</Notice>
          <IconButton icon="close" label="Dismiss" onClick={() => setFailure(null)} />
        </div>
      )}
      {asking === "rename" && (
        <Rename
          title={info?.title ?? ""}
          onClose={() => setAsking(null)}
          onRename={(title) => change(() => client.updateSession(sessionId, { title }))}
        />
      )}
      {asking === "settings" && info && <Settings info={info} onClose={() => setAsking(null)} />}
      {asking === "limits" && info && <LimitsDialog info={info} onClose={() => setAsking(null)} />}
      {asking === "terminate" && (
        <Confirm
          title="Terminate the session?"
          words="The agent and everything it started will be stopped. The transcript is kept."
          action="Terminate"
          onClose={() => setAsking(null)}
          onConfirm={() => change(() => client.terminateSession(sessionId))}
        />
      )}
      {asking === "delete" && (
        <Confirm
          title="Delete the session?"
          words="The agent will be stopped, and the session and its events will be deleted. This cannot be undone."
          action="Delete"
          onClose={() => setAsking(null)}
          onConfirm={() =>
            change(async () => {
              await client.deleteSession(sessionId);
              go(null);
            })
          }
        />
      )}
    </header>
  );
}

/** Loaded on first use. */
async function saveMarkdown(transcript: Transcript, info: SessionInfo | null, name: string): Promise<void> {
  if (!info) return;
  const [{ asMarkdown }, { saveFile }] = await loaded(Promise.all([import("../export/markdown"), import("../export/saveFile")]));
  saveFile(`${info.sessionId}.md`, [asMarkdown(transcript, info, name)], "text/markdown");
}

function Facts({ info, version }: { info: SessionInfo; version: string | null }) {
  const { inputTokens, outputTokens, costUsd, contextTokens, contextWindow } = info.usage;
  return (
    <>
      <span>
        {info.agent}
        {version && ` ${version}`}
      </span>
      {info.model && <span>{[info.model, info.variant].filter(Boolean).join(" · ")}</span>}
      <LimitMeters info={info} />
      <span>{info.agentMode}</span>
      <span className="sessionDirectory" title={info.directory}>
        {info.directory}
      </span>
      {(inputTokens || outputTokens) && (
        <span title="Tokens in and out, all turns">
          {count(inputTokens ?? 0)} in · {count(outputTokens ?? 0)} out
          {costUsd ? ` · ${money(costUsd)}` : ""}
        </span>
      )}
      {contextTokens != null && contextWindow != null && (
        <span title={`Context: ${contextTokens} of ${contextWindow} tokens`}>context {share(contextTokens, contextWindow)}</span>
      )}
    </>
  );
}

function Rename({ title, onRename, onClose }: { title: string; onRename: (title: string) => void; onClose: () => void }) {
  const [text, setText] = useState(title);
  return (
    <Dialog title="Rename the session" onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          onRename(text.trim());
          onClose();
        }}
      >
        <label>
          <span>Title</span>
          <input name="title" value={text} onChange={(event) => setText(event.target.value)} maxLength={256} required data-first />
        </label>
        <footer className="formEnd">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary">
            Rename
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
