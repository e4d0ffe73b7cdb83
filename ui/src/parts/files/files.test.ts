import assert from "node:assert/strict";
import { test } from "node:test";
import { filesIn, isPicture, weight } from "./files";

const image = { type: "image", file_id: "f1", name: "a.png", media_type: "image/png", size: 3 };

test("files are found wherever they stand in a value, and nothing else is one", () => {
  const { type, ...ref } = image;
  assert.equal(type, "image");
  assert.deepEqual(filesIn({ chart: image, rows: [1, [image]] }), [ref, ref]);
  assert.deepEqual(filesIn([{ type: "file" }, { type: "text", file_id: "f1" }, "file", null, 1]), []);
  assert.deepEqual(filesIn(undefined), []);
});

test("only pictures that browsers show safely are shown", () => {
  const is = (media_type: string) => isPicture({ file_id: "f", name: "a", media_type, size: 1 });
  assert.deepEqual(["image/png", "image/svg+xml", "text/html"].map(is), [true, false, false]);
});

test("sizes are short", () => {
  assert.deepEqual([5, 2048, 20480, 5242880].map(weight), ["5 bytes", "2.0 KB", "20 KB", "5.0 MB"]);
});
