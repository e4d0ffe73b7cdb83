import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameParser, frames } from "./sse";

const WIRE = 'id: 1\nevent: model.token\ndata: {"text":"é\\n"}\n\n: ping\n\nid: 2\r\ndata: a\r\ndata: b\r\n\r\n';

test("frames are the same wherever the bytes are cut", () => {
  const whole = new FrameParser().push(WIRE);
  assert.deepEqual(whole, [
    { id: "1", event: "model.token", data: '{"text":"é\\n"}' },
    { id: "2", event: "message", data: "a\nb" },
  ]);
  for (let cut = 0; cut <= WIRE.length; cut += 1) {
    const parser = new FrameParser();
    assert.deepEqual([...parser.push(WIRE.slice(0, cut)), ...parser.push(WIRE.slice(cut))], whole, `cut at ${cut}`);
  }
});

test("a frame that is not complete is not handed over", () => {
  assert.deepEqual(new FrameParser().push("id: 1\ndata: x\n"), []);
});

test("letters that are cut in the middle of their bytes come out whole, and comments are heard", async () => {
  const bytes = new TextEncoder().encode(WIRE);
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      for (const byte of bytes) stream.enqueue(new Uint8Array([byte]));
      stream.close();
    },
  });
  let heard = 0;
  const found = [];
  for await (const batch of frames(body, () => (heard += 1))) found.push(...batch);
  assert.equal(found[0]?.data, '{"text":"é\\n"}');
  assert.ok(heard > 10);
});
