import { expect, test } from "vitest";
import { type Frame, frames } from "../src/daemon/sse";

async function read(...chunks: string[]): Promise<Frame[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
  const all: Frame[] = [];
  for await (const batch of frames(body)) all.push(...batch);
  return all;
}

test("frames are cut at blank lines, wherever chunks end", async () => {
  const expected = [
    { event: "message", data: '{"a":1}' },
    { event: "session", data: "b" },
  ];
  const text = 'retry: 3000\n\nid: 1\ndata: {"a":1}\n\n: ping\n\nevent: session\ndata: b\n\n';
  expect(await read(text)).toEqual(expected);
  expect(await read(...text)).toEqual(expected);
});

test("a frame that the end cut off is no frame", async () => {
  expect(await read("data: a\n\ndata: b")).toEqual([{ event: "message", data: "a" }]);
});
