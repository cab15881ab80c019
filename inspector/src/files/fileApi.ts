/** Files of the daemon's machine. Relative paths start in the session's directory, or in the home directory without one. */
import type { EntryPage, FileEntry, FileWritten, Operations } from "sandbox-agentd";

const PAGE = 500;
/** How many entries of a folder are shown. */
export const MAX_ENTRIES = 2000;

export interface Folder {
  readonly entries: readonly FileEntry[];
  /** Some entries are not shown. */
  readonly isCut: boolean;
}

/** A file of the daemon's machine, or the start of one. */
export interface FileContent {
  readonly blob: Blob;
  /** For `If-Match`. */
  readonly etag: string;
  /** Of the whole file. */
  readonly size: number;
}

export class FileApi {
  constructor(
    private readonly client: Operations,
    private readonly sessionId: string | null,
  ) {}

  /** Distinguishes this daemon's files from those of others. */
  keyOf(path: string): string {
    return `${this.client.baseUrl} ${path}`;
  }

  /** Folders first, then by name. Without a path, the root of relative paths. */
  async list(path: string | undefined): Promise<Folder> {
    const entries: FileEntry[] = [];
    let cursor: string | undefined;
    do {
      const page: EntryPage = await this.client.fs.entries({ ...this.#base, ...(path !== undefined && { path }), limit: PAGE, ...(cursor && { cursor }) });
      entries.push(...page.entries);
      cursor = page.nextCursor ?? undefined;
    } while (cursor && entries.length < MAX_ENTRIES);
    entries.sort((a, b) => Number(b.entryType === "directory") - Number(a.entryType === "directory"));
    return { entries, isCut: cursor !== undefined };
  }

  /** The first bytes of a file, up to a limit. */
  async read(path: string, most: number, signal?: AbortSignal): Promise<FileContent> {
    const answer = await this.client.fs.read(path, { ...this.#base, range: `bytes=0-${most - 1}`, signal });
    const blob = await answer.blob();
    const whole = /\/(\d+)$/.exec(answer.headers.get("Content-Range") ?? "");
    return { blob, etag: answer.headers.get("ETag") ?? "", size: whole ? Number(whole[1]) : blob.size };
  }

  /** With a tag, writes only if the file still has it. */
  write(path: string, content: Blob, etag?: string): Promise<FileWritten> {
    return this.client.fs.write(path, content, { ...this.#base, ...(etag && { ifMatch: etag }) });
  }

  async save(entry: Pick<FileEntry, "path" | "name" | "entryType">): Promise<void> {
    const isFolder = entry.entryType === "directory";
    const { fs } = this.client;
    const answer = isFolder ? fs.download({ ...this.#base, path: entry.path, format: "zip" }) : fs.read(entry.path, this.#base);
    const blob = await (await answer).blob();
    const { saveBlob } = await import("../export/saveFile");
    saveBlob(isFolder ? `${entry.name}.zip` : entry.name, blob);
  }

  get #base(): { sessionId?: string } {
    return this.sessionId === null ? {} : { sessionId: this.sessionId };
  }
}
