/** Files of the daemon's machine: a tree, and the open file. */
import { useEffect, useMemo, useState } from "react";
import { sayWhy } from "chat/state/words";
import type { FileEntry } from "sandbox-agentd";
import { Refusal } from "../panel/refusal";
import { Confirm } from "../parts/confirm";
import { Notice } from "chat/parts/notice";
import { useWorkspace } from "../state/workspace";
import { FileApi, type Folder } from "./fileApi";
import { FileTree } from "./fileTree";
import { FileView } from "./fileView";

/** Files that were dropped on a folder. */
interface Drop {
  readonly folder: string;
  readonly files: readonly File[];
  /** Those that would replace an existing file. */
  readonly taken: readonly string[];
}

export default function FilesTab({ sessionId }: { sessionId: string | null }) {
  const { client } = useWorkspace();
  const api = useMemo(() => new FileApi(client, sessionId), [client, sessionId]);
  const [root, setRoot] = useState<Folder | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [open, setOpen] = useState<FileEntry | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [notice, setNotice] = useState("");
  const [drop, setDrop] = useState<Drop | null>(null);
  /** Incremented when the tree must be read again. */
  const [version, setVersion] = useState(0);

  useEffect(() => {
    let current = true;
    api.list(undefined).then(
      (folder) => {
        if (!current) return;
        setRoot(folder);
        setFailure(null);
      },
      (error: unknown) => current && setFailure(error),
    );
    return () => {
      current = false;
    };
  }, [api, version]);
  const reload = () => setVersion((before) => before + 1);

  if (failure !== null) return <Refusal error={failure} onRetry={reload} />;
  if (root === null) return <p className="debugEmpty">Loading the files…</p>;

  const upload = async ({ folder, files }: Drop) => {
    setProblem(null);
    setNotice("");
    try {
      for (const file of files) await api.write(folder + file.name, file);
      setNotice(files.length === 1 ? `Uploaded ${files[0]?.name}.` : `Uploaded ${files.length} files.`);
    } catch (error) {
      setProblem(sayWhy(error));
    }
    reload();
  };
  const onDrop = (folder: string, files: readonly File[], entries: readonly FileEntry[]) => {
    const names = new Set(entries.map(({ name }) => name));
    const dropped = { folder, files, taken: files.map(({ name }) => name).filter((name) => names.has(name)) };
    if (dropped.taken.length) setDrop(dropped);
    else void upload(dropped);
  };
  const onSave = (entry: FileEntry) => {
    setProblem(null);
    api.save(entry).catch((error: unknown) => setProblem(sayWhy(error)));
  };

  return (
    <div className="filesTab">
      <FileTree api={api} root={root} version={version} open={open} onOpen={setOpen} onSave={onSave} onDrop={onDrop} onReload={reload} />
      <p className="sa-offscreen" role="status">
        {notice}
      </p>
      {problem && (
        <div className="tabNotice">
          <Notice>{problem}</Notice>
        </div>
      )}
      {open && <FileView key={open.path} api={api} entry={open} onSave={() => onSave(open)} onClose={() => setOpen(null)} />}
      {drop && (
        <Confirm
          title="Replace files?"
          words={`Already there: ${drop.taken.join(", ")}.`}
          action="Replace"
          onClose={() => setDrop(null)}
          onConfirm={() => void upload(drop)}
        />
      )}
    </div>
  );
}
