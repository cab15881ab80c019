/** What changed in the session's directory since the session began, and how to revert it. */
import { useCallback, useEffect, useMemo, useState } from "react";
import { sayWhy } from "chat/state/words";
import { type ChangedFile, type ChangeList, Problem } from "sandbox-agentd";
import { Refusal } from "../panel/refusal";
import { Button, IconButton } from "chat/parts/button";
import { Confirm } from "../parts/confirm";
import { bytes, plural } from "chat/parts/format";
import { Icon } from "chat/parts/icon";
import { Notice } from "chat/parts/notice";
import { useObserved } from "chat/state/observable";
import { useAttempt } from "../state/useAttempt";
import { useWorkspace } from "../state/workspace";
import { DiffCounts, DiffView } from "chat/transcript/diffView";
import { exact } from "chat/transcript/exact";

/** Agents write in bursts. */
const LATER_MS = 700;

export default function ChangesTab({ sessionId }: { sessionId: string }) {
  const workspace = useWorkspace();
  const { client } = workspace;
  const conversation = useMemo(() => workspace.conversation(sessionId), [workspace, sessionId]);
  const { transcript } = useObserved(conversation);
  const state = useObserved(workspace.sessions).find((session) => session.sessionId === sessionId)?.state;
  const [changes, setChanges] = useState<ChangeList | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);

  const reload = useCallback(async () => {
    try {
      setChanges(await client.listChanges(sessionId));
      setFailure(null);
    } catch (error) {
      setFailure(error);
    }
  }, [client, sessionId]);
  const { problem, attempt } = useAttempt(reload, whyNot);
  // An agent changes files while it works; any transcript entry that completes may be such a change.
  const { length } = transcript.entries;
  useEffect(() => {
    const timer = window.setTimeout(reload, changes === null ? 0 : LATER_MS);
    return () => window.clearTimeout(timer);
  }, [reload, length, state]);

  if (changes === null) return failure ? <Refusal error={failure} onRetry={reload} /> : <p className="debugEmpty">Loading the changes…</p>;

  const act = async (action: () => Promise<unknown>) => {
    setBusy(true);
    await attempt(action);
    setBusy(false);
  };
  // Send the tags that are shown, so that later changes by others are not overwritten.
  const revert = (files: readonly ChangedFile[]) =>
    act(() => client.revertChanges(sessionId, { paths: files.map(({ path }) => path), etags: Object.fromEntries(files.map(({ path, etag }) => [path, etag])) }));
  const { files, canUndo, notice, source } = changes;
  const mayRevert = source === "snapshot";
  const locked = busy || !(state === "idle" || state === "ended");

  return (
    <div className="scrollTab changesTab">
      <div className="debugTools">
        <p className="debugCount sa-grow">
          {files.length === 0 ? "Nothing has changed" : plural(files.length, "file")}{" "}
          {files.length > 0 && <DiffCounts diff={{ added: changes.additions, removed: changes.deletions }} />}
        </p>
        {canUndo && (
          <Button look="quiet" small icon="undo" disabled={locked} onClick={() => act(() => client.undoRevert(sessionId))} title="Undo the last revert">
            Undo revert
          </Button>
        )}
        {mayRevert && files.length > 0 && (
          <Button look="quiet" small disabled={locked} onClick={() => setAsking(true)}>
            Revert all
          </Button>
        )}
        <IconButton icon="refresh" label="Refresh" onClick={reload} />
      </div>
      {problem && <Notice>{problem}</Notice>}
      {failure !== null && <Notice>{sayWhy(failure)}</Notice>}
      {notice && <Notice tone="calm">{notice}</Notice>}
      {!mayRevert && !notice && files.length > 0 && (
        <Notice tone="calm">The directory is not in a git repository: these are the changes that the agent reported, and they cannot be reverted.</Notice>
      )}
      {files.length === 0 && <p className="debugEmpty">The directory is as it was when the session began.</p>}
      {files.map((file) => (
        <Change key={file.path} file={file} locked={locked} onRevert={mayRevert ? () => revert([file]) : null} />
      ))}
      {asking && (
        <Confirm
          title="Revert all changes?"
          words={`${plural(files.length, "file")} in ${changes.directory} will be restored to the state at the start of the session. This can be undone here.`}
          action="Revert all"
          onClose={() => setAsking(false)}
          onConfirm={() => void revert(files)}
        />
      )}
    </div>
  );
}

function Change({ file, locked, onRevert }: { file: ChangedFile; locked: boolean; onRevert: (() => void) | null }) {
  const [open, setOpen] = useState(false);
  const { path, status, additions, deletions, diff, size } = file;
  return (
    <section className="change" aria-label={path}>
      <header>
        <button type="button" className="changeLine" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="chevron" size={14} />
          <span className={`changeStatus ${status}`}>{status}</span>
          <span className="changePath" title={path}>
            {exact(path)}
          </span>
          {additions != null && <DiffCounts diff={{ added: additions, removed: deletions ?? 0 }} />}
        </button>
        {onRevert && (
          <Button look="quiet" small disabled={locked} onClick={onRevert} aria-label={`Revert ${path}`}>
            Revert
          </Button>
        )}
      </header>
      {open &&
        (diff ? (
          <DiffView path={path} action={status} diff={diff} />
        ) : (
          <p className="sa-faint">No diff: not text, or too large{size != null && ` (${bytes(size)})`}.</p>
        ))}
    </section>
  );
}

function whyNot(error: unknown): string {
  if (!(error instanceof Problem)) return sayWhy(error);
  if (error.status === 409) return `Not while a turn runs: ${sayWhy(error)}.`;
  if (error.status === 412) return `A file has changed since it was shown here, so nothing was reverted: ${sayWhy(error)}. Look at it again first.`;
  return sayWhy(error);
}
