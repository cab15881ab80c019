/** Attachments: uploaded when they are chosen, named in the message when it is sent. */
import type { Operations, StoredAttachment } from "sandbox-agentd";
import { useObserved, Value } from "../state/observable.js";
import { sayWhy } from "../state/words.js";

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly stored: StoredAttachment | null;
  readonly failure: string | null;
}

export interface Attachments {
  readonly uploads: readonly Upload[];
  readonly uploading: boolean;
  /** In the form that a message takes. */
  readonly ready: { path: string; mime?: string; filename: string }[];
  add: (files: Iterable<File>) => void;
  remove: (id: number) => void;
  clear: () => void;
}

let nextId = 1;
const kept = new WeakMap<Operations, Map<string, Value<readonly Upload[]>>>();

/** The uploads for a session's next message, which are still there when the user comes back from another session. */
function uploadsOf(client: Operations, sessionId: string): Value<readonly Upload[]> {
  const sessions = kept.get(client) ?? new Map<string, Value<readonly Upload[]>>();
  const uploads = sessions.get(sessionId) ?? new Value<readonly Upload[]>([]);
  kept.set(client, sessions.set(sessionId, uploads));
  return uploads;
}

export function useAttachments(client: Operations, sessionId: string): Attachments {
  const all = uploadsOf(client, sessionId);
  const uploads = useObserved(all);
  const change = (id: number, facts: Partial<Upload>) =>
    all.set(all.snapshot.map((upload) => (upload.id === id ? { ...upload, ...facts } : upload)));
  const upload = async (id: number, file: File) => {
    try {
      change(id, { stored: await client.uploadAttachment(sessionId, file, { filename: file.name }) });
    } catch (error) {
      change(id, { failure: sayWhy(error) });
    }
  };
  return {
    uploads,
    uploading: uploads.some(({ stored, failure }) => !stored && !failure),
    ready: uploads.flatMap(({ stored, name }) =>
      stored ? [{ path: stored.path, ...(stored.mime && { mime: stored.mime }), filename: name }] : [],
    ),
    add: (files) => {
      for (const file of files) {
        const id = nextId++;
        all.set([...all.snapshot, { id, name: file.name, size: file.size, stored: null, failure: null }]);
        void upload(id, file);
      }
    },
    remove: (id) => all.set(all.snapshot.filter((upload) => upload.id !== id)),
    // What was attached after the message had been sent is for the next one.
    clear: () => all.set(all.snapshot.filter((upload) => !uploads.includes(upload))),
  };
}
