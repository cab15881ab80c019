/** Server-sent events from a response, frame by frame. */

export interface Frame {
  /** The frame's name; `message` when it has none. */
  readonly event: string;
  readonly data: string;
}

/** All that one chunk completed; an empty list for a ping. */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame[]> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      // Joined only when a frame ends: one may have many megabytes.
      const last = rest.at(-1) ?? "";
      rest.push(value);
      if (!value.includes("\n\n") && !(last.endsWith("\n") && value.startsWith("\n"))) {
        yield [];
        continue;
      }
      const blocks = rest.join("").split("\n\n");
      rest = [blocks.pop() ?? ""];
      yield blocks.map(frameOf).filter((frame) => frame !== null);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function frameOf(block: string): Frame | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
  }
  return data.length ? { event, data: data.join("\n") } : null;
}
