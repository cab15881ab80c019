/** Files on the daemon's machine: `client.fs`. */
import { type CallOptions, type Content, type Http, type NodeOptions, parted } from "./http.js";
import type { components, operations } from "./openapi.js";
import { followOnce } from "./stream.js";

type Schemas = components["schemas"];
type QueryOf<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;
type Without<Query, Field extends string> = Omit<Query, Field> & CallOptions;

export type FileEntry = Schemas["FileEntry"];
export type EntryPage = Schemas["EntryPage"];
export type FileStat = Schemas["FileStat"];
export type FileWritten = Schemas["FileWritten"];
export type FileAction = Schemas["FileAction"];
export type FileMoved = Schemas["FileMoved"];
export type Unpacked = Schemas["Unpacked"];
export type SearchHit = Schemas["SearchHit"];
export type SearchResult = Schemas["SearchResult"];

/** A change below a watched directory. */
export interface FileChange {
  readonly path: string;
  readonly change: "created" | "modified" | "deleted";
  readonly entryType: "file" | "directory";
}

/** What can be sent: a stream is sent as it is read. */
export type FileContent = Content;

/** Paths are absolute, or relative to the directory of `sessionId`; without one, to the home of the daemon's user. */
export class Fs {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** List a directory, sorted by name, in pages of `limit` entries (default: 1,000). */
  entries(query: QueryOf<"fs.entries"> & CallOptions = {}): Promise<EntryPage> {
    return this.#http.json("fs.entries", parted({ limit: 1000, ...query }));
  }

  /** Show what a path leads to. */
  stat(path: string, query: Without<QueryOf<"fs.stat">, "path"> = {}): Promise<FileStat> {
    return this.#http.json("fs.stat", parted({ path, ...query }));
  }

  /** Read a file, or a range of it. The response's `body` is a stream; `text()`, `blob()` and so on read all of it. */
  read(path: string, query: Without<QueryOf<"fs.read">, "path"> & { range?: string } = {}): Promise<Response> {
    const { range, ...rest } = query;
    const headers: Record<string, string> = range === undefined ? {} : { range };
    return this.#http.send("fs.read", { ...parted({ path, ...rest }), headers });
  }

  /** Write a file atomically. With `ifMatch`, only if the file still has that tag; with `ifNoneMatch: "*"`, only if it does not exist. */
  write(
    path: string,
    content: FileContent,
    query: Without<QueryOf<"fs.write">, "path"> & { ifMatch?: string; ifNoneMatch?: string } = {},
  ): Promise<FileWritten> {
    const { ifMatch, ifNoneMatch, ...rest } = query;
    const headers: Record<string, string> = { "content-type": BYTES };
    if (ifMatch !== undefined) headers["if-match"] = ifMatch;
    if (ifNoneMatch !== undefined) headers["if-none-match"] = ifNoneMatch;
    return this.#http.json("fs.write", { ...parted({ path, ...rest }), headers, content });
  }

  /** Delete a file, a link (not its target) or a directory. */
  delete(path: string, query: Without<QueryOf<"fs.delete">, "path"> = {}): Promise<FileAction> {
    return this.#http.json("fs.delete", parted({ path, ...query }));
  }

  /** Create a directory and its parents, unless they exist. */
  mkdir(path: string, query: Without<QueryOf<"fs.mkdir">, "path"> = {}): Promise<FileAction> {
    return this.#http.json("fs.mkdir", parted({ path, ...query }));
  }

  /** Move a file, a link (not its target) or a directory. */
  move(
    from: string,
    to: string,
    options: { overwrite?: boolean; sessionId?: string } & NodeOptions = {},
  ): Promise<FileMoved> {
    const { signal, node, ...rest } = options;
    return this.#http.json("fs.move", { body: { from, to, ...rest }, signal, node });
  }

  /** Upload a tar archive and unpack it to a directory. */
  uploadBatch(content: FileContent, query: QueryOf<"fs.upload_batch"> & CallOptions = {}): Promise<Unpacked> {
    const headers = { "content-type": "application/x-tar" };
    return this.#http.json("fs.upload_batch", { ...parted(query), headers, content });
  }

  /** Download a directory as an archive, packed while it is sent. */
  download(query: QueryOf<"fs.download"> & CallOptions = {}): Promise<Response> {
    return this.#http.send("fs.download", parted(query));
  }

  /** Search names and contents below a directory. `truncated` says that there may be more. */
  search(query: QueryOf<"fs.search"> & CallOptions = {}): Promise<SearchResult> {
    return this.#http.json("fs.search", parted(query));
  }

  /** Stream the changes below a directory from now on. Null means that some were missed: read the directory again. */
  async *watch(query: QueryOf<"fs.watch"> & CallOptions = {}): AsyncGenerator<FileChange | null, void, undefined> {
    // Changes are missed while the connection is lost, so the stream ends with it, and the caller starts a new one.
    for await (const frame of followOnce(this.#http, "fs.watch", parted(query))) {
      yield frame.name === "lost" ? null : (JSON.parse(frame.data) as FileChange);
    }
  }
}

const BYTES = "application/octet-stream";
