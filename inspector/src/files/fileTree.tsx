/** A folder tree. A file dropped on a folder is uploaded to it. */
import { type DragEvent, useEffect, useState } from "react";
import { sayWhy } from "chat/state/words";
import type { FileEntry } from "sandbox-agentd";
import { IconButton } from "chat/parts/button";
import { bytes, count } from "chat/parts/format";
import { Icon } from "chat/parts/icon";
import { exact } from "chat/transcript/exact";
import { type FileApi, type Folder, MAX_ENTRIES } from "./fileApi";

interface Actions {
  api: FileApi;
  /** Changes when the folders must be read again. */
  version: number;
  open: FileEntry | null;
  onOpen: (entry: FileEntry) => void;
  onSave: (entry: FileEntry) => void;
  /** `folder` ends with a slash; it is empty for the root. */
  onDrop: (folder: string, files: readonly File[], entries: readonly FileEntry[]) => void;
}

export function FileTree({ root, onReload, ...actions }: Actions & { root: Folder; onReload: () => void }) {
  const drop = useDrop((files) => actions.onDrop("", files, root.entries));
  const folder = root.entries[0] ? parentOf(root.entries[0].path) : "";
  return (
    <>
      <div className="debugTools">
        <p className="debugCount sa-grow filesPlace" title={folder}>
          <bdi>{folder || "Files"}</bdi>
        </p>
        <label className="sa-button sa-quiet sa-small">
          <Icon name="upload" size={14} />
          <span>Upload</span>
          <input
            type="file"
            multiple
            className="sa-offscreen"
            aria-label="Upload files"
            onChange={({ target }) => {
              if (target.files?.length) actions.onDrop("", [...target.files], root.entries);
              target.value = "";
            }}
          />
        </label>
        <IconButton icon="refresh" label="Refresh" onClick={onReload} />
      </div>
      <div className={`fileTree ${drop.isOver ? "over" : ""}`} tabIndex={0} role="region" aria-label="Files" {...drop.handlers}>
        {root.entries.length === 0 && <p className="debugEmpty">The folder is empty. Drop files here to upload them.</p>}
        <Entries folder={root} depth={0} {...actions} />
      </div>
    </>
  );
}

function Entries({ folder, depth, ...actions }: Actions & { folder: Folder; depth: number }) {
  return (
    <ul>
      {folder.entries.map((entry) =>
        entry.entryType === "directory" ? (
          <FolderRow key={entry.path} entry={entry} depth={depth} {...actions} />
        ) : (
          <FileRow key={entry.path} entry={entry} depth={depth} {...actions} />
        ),
      )}
      {folder.isCut && <li className="fileMore">Only the first {count(MAX_ENTRIES)} are shown.</li>}
    </ul>
  );
}

function FolderRow({ entry, depth, ...actions }: Actions & { entry: FileEntry; depth: number }) {
  const { api, version, onDrop, onSave } = actions;
  const [isOpen, setIsOpen] = useState(false);
  const [folder, setFolder] = useState<Folder | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (!isOpen) return;
    let current = true;
    api.list(entry.path).then(
      (found) => {
        if (!current) return;
        setFolder(found);
        setFailure(null);
      },
      (error: unknown) => current && setFailure(sayWhy(error)),
    );
    return () => {
      current = false;
    };
  }, [api, entry.path, isOpen, version]);
  const drop = useDrop((files) => {
    void api.list(entry.path).then(
      ({ entries }) => onDrop(`${entry.path}/`, files, entries),
      (error: unknown) => setFailure(sayWhy(error)),
    );
  });
  return (
    <li>
      <div className={`fileRow ${drop.isOver ? "over" : ""}`} {...drop.handlers}>
        <button type="button" style={indent(depth)} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          <Icon name="chevron" size={12} />
          <Icon name="folder" size={14} />
          <span className="fileName">{exact(entry.name)}</span>
        </button>
        <IconButton icon="download" size={14} label={`Download ${entry.name} as a zip archive`} onClick={() => onSave(entry)} />
      </div>
      {isOpen && failure && (
        <p className="fileMore sa-bad-text" style={indent(depth + 1)}>
          {failure}
        </p>
      )}
      {isOpen && folder && <Entries folder={folder} depth={depth + 1} {...actions} />}
    </li>
  );
}

function FileRow({ entry, depth, open, onOpen, onSave }: Actions & { entry: FileEntry; depth: number }) {
  return (
    <li className="fileRow">
      <button type="button" style={indent(depth)} aria-pressed={open?.path === entry.path} onClick={() => onOpen(entry)}>
        <span className="fileGap" />
        <Icon name={entry.linkTarget ? "link" : "file"} size={14} />
        <span className="fileName" title={entry.linkTarget ? `Points to ${entry.linkTarget}` : undefined}>
          {exact(entry.name)}
        </span>
        <span className="eventTime">{bytes(entry.size)}</span>
      </button>
      <IconButton icon="download" size={14} label={`Download ${entry.name}`} onClick={() => onSave(entry)} />
    </li>
  );
}

/** Files dropped here stay here; elsewhere on the page they are attached to the message. */
function useDrop(onFiles: (files: readonly File[]) => void) {
  const [isOver, setIsOver] = useState(false);
  const take = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const handlers = {
    onDragOver: (event: DragEvent) => setIsOver(take(event)),
    onDragLeave: () => setIsOver(false),
    onDrop: (event: DragEvent) => {
      setIsOver(false);
      if (take(event)) onFiles([...event.dataTransfer.files]);
    },
  };
  return { isOver, handlers };
}

function indent(depth: number) {
  return { paddingLeft: 12 + depth * 14 };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
