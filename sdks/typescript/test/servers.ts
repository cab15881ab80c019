/** An HTTP server that follows a script: what a daemon does on its worst day, as often as a test needs it. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Answer = (answer: ServerResponse, seen: Seen) => void;

export interface ScriptedServer {
  readonly baseUrl: string;
  /** The requests so far, without the one that `connect` makes. */
  readonly requests: Seen[];
}

/** Answers each request with the next line of the script, and with the last one when there is no other. */
export async function scripted(...script: Answer[]): Promise<ScriptedServer> {
  const requests: Seen[] = [];
  const server = createServer((request, answer) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const seen = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: String(Buffer.concat(parts)),
      };
      if (seen.path === "/v1/sessions?limit=1") return void json({ sessions: [] })(answer, seen);
      requests.push(seen);
      script[Math.min(requests.length, script.length) - 1]?.(answer, seen);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (answer) => {
    answer.writeHead(status, { "content-type": "application/json", ...headers });
    answer.end(JSON.stringify(body));
  };
}

export function problem(
  type: string,
  status: number,
  facts: object = {},
  headers: Record<string, string> = {},
): Answer {
  const members = { type: `urn:sandbox-agent:error:${type}`, title: type, status, detail: `it was ${type}`, ...facts };
  return json(members, status, { "content-type": "application/problem+json", ...headers });
}

/** A stream of these events, after which the daemon says that nothing more comes. */
export function ending(sequences: number[]): Answer {
  return (answer) => {
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.end([...sequences.map((sequence) => frameOf(sequence)), "event: end\ndata: {}\n\n"].join(""));
  };
}

/** What a reader gets who has everything already. */
export const nothingMore: Answer = (answer) => answer.writeHead(204).end();

/** The connection is lost before there is an answer. */
export const hangUp: Answer = (answer) => answer.destroy();

/** A stream of these events, which then ends, breaks or stays open. */
export function events(sequences: number[], then: "end" | "break" | "stay", type = "item.delta"): Answer {
  return (answer) => {
    answer.writeHead(200, { "content-type": "text/event-stream" });
    const text = ["retry: 3000\n\n", ...sequences.map((sequence) => frameOf(sequence, type))].join("");
    // Cut in the middle of a frame: only whole frames count.
    answer.write(then === "break" ? `${text}id: 999\ndata: {"sequ` : text, () => {
      if (then === "break") answer.destroy();
      if (then === "end") answer.end();
    });
  };
}

function frameOf(sequence: number, type = "item.delta"): string {
  const event = { sequence, session_id: "s", type, data: { turn_id: "turn_1", metadata: {} } };
  return `id: ${sequence}\ndata: ${JSON.stringify(event)}\n\n`;
}
