/** Files of the daemon's machine. With a session, a relative path begins in its directory; without, at home. */
import { type Daemon, type FileContent, withQuery } from "../daemon/daemon";
import type { EntryPage, FileEntry, FileWritten } from "../daemon/types";

const PAGE = 500;
/** A folder with more is shown as far as this. */
export const MAX_ENTRIES = 2000;

export interface Folder {
  readonly entries: readonly FileEntry[];
  /** There are more than are shown. */
  readonly isCut: boolean;
}

export class FileApi {
  constructor(
    private readonly daemon: Daemon,
    private readonly sessionId: string | null,
  ) {}

  /** Tells a file from those of other daemons. */
  keyOf(path: string): string {
    return `${this.daemon.address.endpoint} ${path}`;
  }

  /** Folders first, then by name. Without a path, the folder where everything begins. */
  async list(path: string | undefined): Promise<Folder> {
    const entries: FileEntry[] = [];
    let cursor: string | undefined;
    do {
      const page: EntryPage = await this.daemon.get(this.#at("entries", path, { limit: String(PAGE), cursor }));
      entries.push(...page.entries);
      cursor = page.nextCursor ?? undefined;
    } while (cursor && entries.length < MAX_ENTRIES);
    entries.sort((one, other) => Number(other.entryType === "directory") - Number(one.entryType === "directory"));
    return { entries, isCut: cursor !== undefined };
  }

  read(path: string, most: number, signal?: AbortSignal): Promise<FileContent> {
    return this.daemon.file(this.#at("file", path), most, signal);
  }

  /** With a tag, only if the file still has it. */
  write(path: string, content: Blob, etag?: string): Promise<FileWritten> {
    return this.daemon.put(this.#at("file", path), content, etag ? { "If-Match": etag } : undefined);
  }

  async save(entry: Pick<FileEntry, "path" | "name" | "entryType">): Promise<void> {
    const isFolder = entry.entryType === "directory";
    const blob = await this.daemon.blob(isFolder ? this.#at("download", entry.path, { format: "zip" }) : this.#at("file", entry.path));
    const { saveBlob } = await import("../export/saveFile");
    saveBlob(isFolder ? `${entry.name}.zip` : entry.name, blob);
  }

  #at(operation: string, path: string | undefined, query: Record<string, string | undefined> = {}): string {
    return withQuery(`/v1/fs/${operation}`, { path, sessionId: this.sessionId ?? undefined, ...query });
  }
}
