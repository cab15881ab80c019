/** One file: highlighted text to read or edit, an image, or just its size. */
import { useEffect, useState } from "react";
import { CodeText } from "chat/code/codeText";
import { languageOf } from "chat/code/tokens";
import { sayWhy } from "chat/state/words";
import { type FileEntry, Problem } from "sandbox-agentd";
import { Button, IconButton } from "chat/parts/button";
import { Confirm } from "../parts/confirm";
import { bytes } from "chat/parts/format";
import { Notice } from "chat/parts/notice";
import { exact } from "chat/transcript/exact";
import { draftOf, keepDraft } from "./drafts";
import type { FileApi } from "./fileApi";
import { FileImage, imageType } from "./fileImage";
import { breakOf, decodedText, type TextFile, withBreaks } from "./fileText";

/** How much of a file is shown. A longer file cannot be edited here. */
const SHOWN = 1 << 20;

type Shown = { readonly kind: "text"; readonly file: TextFile } | { readonly kind: "image"; readonly blob: Blob } | { readonly kind: "binary"; readonly size: number };

interface Props {
  api: FileApi;
  entry: FileEntry;
  onSave: () => void;
  onClose: () => void;
}

export function FileView({ api, entry, onSave, onClose }: Props) {
  const key = api.keyOf(entry.path);
  const [kept] = useState(() => draftOf(key));
  const [shown, setShown] = useState<Shown | null>(kept && { kind: "text", file: kept.base });
  const [failure, setFailure] = useState<string | null>(null);
  /** The edited text; null while reading. */
  const [draft, setDraft] = useState(kept?.text ?? null);
  const [asking, setAsking] = useState(false);
  const [version, setVersion] = useState(0);

  useEffect(() => {
    // The edit belongs to the version of the file that was read then.
    if (kept && version === 0) return;
    const leaving = new AbortController();
    read(api, entry, leaving.signal).then(
      (found) => {
        if (leaving.signal.aborted) return;
        setShown(found);
        setFailure(null);
      },
      (error: unknown) => !leaving.signal.aborted && setFailure(sayWhy(error)),
    );
    return () => leaving.abort();
  }, [api, entry, version, kept]);

  const text = shown?.kind === "text" ? shown.file : null;
  const isEditable = text !== null && !text.isCut && breakOf(text.text) !== null;
  const isChanged = draft !== null && text !== null && draft !== withBreaks(text.text, "\n");
  useEffect(() => keepDraft(key, isChanged ? { text: draft, base: text } : null), [key, isChanged, draft, text]);
  const leave = () => (isChanged ? setAsking(true) : onClose());
  const discard = () => {
    keepDraft(key, null);
    onClose();
  };

  return (
    <section className="eventDetail fileView" aria-label={entry.name}>
      <header>
        <strong className="fileName" title={entry.path}>
          {exact(entry.name)}
        </strong>
        {shown && shown.kind !== "image" && <span className="sa-faint">{bytes(shown.kind === "text" ? shown.file.size : shown.size)}</span>}
        <span className="sa-grow" />
        {isEditable && draft === null && (
          <Button small icon="edit" onClick={() => setDraft(withBreaks(text.text, "\n"))}>
            Edit
          </Button>
        )}
        <IconButton icon="download" label="Download" onClick={onSave} />
        <IconButton icon="close" label="Close the file" onClick={leave} />
      </header>
      {failure && <Notice>{failure}</Notice>}
      {text && draft !== null ? (
        <Editor
          api={api}
          path={entry.path}
          file={text}
          draft={draft}
          onDraft={setDraft}
          onSaved={(saved) => {
            setShown({ kind: "text", file: saved });
            setDraft(null);
          }}
          onReload={() => {
            setDraft(null);
            setVersion(version + 1);
          }}
        />
      ) : (
        <div className="fileBody" tabIndex={0} role="region" aria-label={`Content of ${entry.name}`}>
          {text && (
            <pre>
              <CodeText text={text.text} language={languageOf(entry.name)} />
            </pre>
          )}
          {text?.isCut && <p className="fileMore">Only the first {bytes(SHOWN)} are shown. Download the file to see all of it.</p>}
          {shown?.kind === "image" && <FileImage blob={shown.blob} name={entry.name} />}
          {shown?.kind === "binary" && <p className="debugEmpty">This file is not text. Download it to view it.</p>}
        </div>
      )}
      {asking && (
        <Confirm title="Leave without saving?" words="Your changes will be lost." action="Leave" onClose={() => setAsking(false)} onConfirm={discard} />
      )}
    </section>
  );
}

interface EditorProps {
  api: FileApi;
  path: string;
  file: TextFile;
  draft: string;
  onDraft: (draft: string) => void;
  onSaved: (file: TextFile) => void;
  /** Reload the file and drop the edit. */
  onReload: () => void;
}

function Editor({ api, path, file, draft, onDraft, onSaved, onReload }: EditorProps) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  /** The file has changed since it was read. */
  const [conflict, setConflict] = useState(false);
  const original = withBreaks(file.text, "\n");
  const save = async (etag: string | undefined) => {
    setBusy(true);
    setFailure(null);
    try {
      const text = withBreaks(draft, breakOf(file.text) ?? "\n");
      const written = await api.write(path, new Blob([text], { type: "application/octet-stream" }), etag);
      onSaved({ text, etag: written.etag, size: written.bytesWritten, isCut: false });
    } catch (error) {
      setConflict(error instanceof Problem && error.status === 412);
      setFailure(sayWhy(error));
      setBusy(false);
    }
  };
  return (
    <>
      {conflict ? (
        <Notice tone="warn">
          <p>The file has changed since you opened it. It was not saved.</p>
          <div className="sa-card-actions">
            <Button small onClick={onReload}>
              Load the new content
            </Button>
            <Button small look="danger" disabled={busy} onClick={() => save(undefined)}>
              Overwrite it
            </Button>
          </div>
        </Notice>
      ) : (
        failure && <Notice>{failure}</Notice>
      )}
      <textarea
        className="fileEditor sa-mono"
        aria-label="File content"
        spellCheck={false}
        autoFocus
        value={draft}
        onChange={(event) => onDraft(event.target.value)}
        onKeyDown={(event) => {
          if (!(event.ctrlKey || event.metaKey) || event.code !== "KeyS") return;
          event.preventDefault();
          // A second press would find the file changed, by the first.
          if (!busy) void save(file.etag);
        }}
      />
      <footer className="fileActions">
        <Button small onClick={() => onDraft(original)} disabled={busy || draft === original}>
          Reset
        </Button>
        <Button small look="primary" disabled={busy} onClick={() => save(file.etag)}>
          Save
        </Button>
      </footer>
    </>
  );
}

async function read(api: FileApi, entry: FileEntry, signal: AbortSignal): Promise<Shown> {
  const type = imageType(entry.name);
  const { blob, etag, size } = await api.read(entry.path, type ? IMAGE_SHOWN : SHOWN, signal);
  if (type && blob.size === size) return { kind: "image", blob: blob.slice(0, blob.size, type) };
  const isCut = blob.size < size;
  const text = decodedText(await blob.arrayBuffer(), isCut);
  return text === null ? { kind: "binary", size } : { kind: "text", file: { text, etag, size, isCut } };
}

const IMAGE_SHOWN = 16 << 20;
