/** Attachments: uploaded when they are chosen, named in the message when it is sent. */
import { useState } from "react";
import type { Operations, StoredAttachment } from "sandbox-agentd";
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

export function useAttachments(client: Operations, sessionId: string): Attachments {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const change = (id: number, facts: Partial<Upload>) =>
    setUploads((all) => all.map((upload) => (upload.id === id ? { ...upload, ...facts } : upload)));
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
        setUploads((all) => [...all, { id, name: file.name, size: file.size, stored: null, failure: null }]);
        void upload(id, file);
      }
    },
    remove: (id) => setUploads((all) => all.filter((upload) => upload.id !== id)),
    clear: () => setUploads([]),
  };
}
