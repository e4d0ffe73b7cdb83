import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { cutOff, follow, type Following } from "./follow";

Object.assign(globalThis, {
  sessionStorage: { getItem: () => null, removeItem: () => undefined },
  addEventListener: () => undefined,
});
const realFetch = globalThis.fetch;
afterEach(() => (globalThis.fetch = realFetch));

type Answer = (headers: Record<string, string>) => Response | Promise<Response>;

/** Answers requests one after another, and notes the id that each asks to continue from. */
function serve(...answers: Answer[]): string[] {
  const asked: string[] = [];
  globalThis.fetch = async (_, options) => {
    const headers = options?.headers as Record<string, string>;
    asked.push(headers["Last-Event-ID"] ?? "");
    const answer = answers.shift();
    if (!answer) throw new TypeError("no server answers");
    return answer(headers);
  };
  return asked;
}

const events =
  (text: string): Answer =>
  () =>
    new Response(text);
const away: Answer = () => {
  throw new TypeError("connection refused");
};

const followed = (options: Partial<Following> = {}): Promise<string[]> =>
  new Promise((done) => {
    const taken: string[] = [];
    const take = (frames: { data: string }[]) => {
      taken.push(...frames.map((frame) => frame.data));
      const isOver = taken.at(-1) === "end";
      if (isOver) setTimeout(() => done(taken));
      return isOver;
    };
    follow({ path: "/x", take, failed: (problem) => done([...taken, `failed ${problem.status}`]), ...options });
  });

test("a stream that is cut off is opened again at the last id, and nothing comes twice", async () => {
  const asked = serve(
    events("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: not who"),
    away,
    events("id: 3\ndata: c\n\nid: 4\ndata: end\n\n"),
  );
  assert.deepEqual(await followed(), ["a", "b", "c", "end"]);
  assert.deepEqual(asked, ["", "2", "2"]);
});

test("the hint shows while a stream is cut off, and goes away by itself", async () => {
  const seen: number[] = [];
  const stop = cutOff.watch(() => seen.push(cutOff.get()));
  serve(away, events("id: 1\ndata: end\n\n"));
  await followed();
  stop();
  assert.deepEqual(seen, [1, 0]);
});

test("a refused request is not repeated, except after too many requests", async () => {
  const refused: Answer = () => new Response("{}", { status: 404 });
  const busy: Answer = () => new Response("{}", { status: 429 });
  const asked = serve(busy, refused);
  assert.deepEqual(await followed(), ["failed 404"]);
  assert.equal(asked.length, 2);
});

test("it begins after what is known already", async () => {
  const asked = serve(events("id: 8\ndata: end\n\n"));
  await followed({ after: 7 });
  assert.deepEqual(asked, ["7"]);
});
