/** The requests of the page, one function each. */

import type { Json, Status } from "../log/events";
import type { Turn } from "../log/derived/branches";
import { filesIn, type FileRef } from "../parts/files/files";
import type { Route } from "../state/route";
import { change, get, newKey, part, Problem, send } from "./http";
import { frames } from "./sse";
import type {
  Agent,
  Feedback,
  Interaction,
  ModelRequest,
  RunRow,
  RunSeen,
  SearchPage,
  SharedThread,
  ShareRow,
  Source,
  Statistics,
  Thread,
  ThreadRow,
  WaitRow,
} from "./wire";

// --- chats

/** Chats, last activity first. */
export const threads = (limit: number, before?: string): Promise<{ threads: ThreadRow[]; next: string | null }> =>
  get("/api/threads", { sort: "activity", limit, before });

/** Messages of all chats that have these words, newest first, and chats that are called like that. */
export const search = (query: string): Promise<SearchPage> => get("/api/search", { query, limit: 50 });

export const renameThread = (id: string, title: string): Promise<ThreadRow> =>
  change("PATCH", `/api/threads/${part(id)}`, { title });

export const deleteThread = (id: string): Promise<unknown> => change("DELETE", `/api/threads/${part(id)}`);

export const exportThread = async (id: string, format: "markdown" | "json"): Promise<Blob> =>
  (await send(`/api/threads/${part(id)}/export?format=${format}`)).blob();

/** A thread with all of its messages, read page by page from the newest back. */
export async function thread(id: string): Promise<Thread> {
  const found = await get<Thread>(`/api/threads/${part(id)}`);
  for (let before = found.next; before; ) {
    const page = await get<Thread>(`/api/threads/${part(id)}`, { before });
    found.messages.unshift(...page.messages);
    before = page.next;
  }
  return found;
}

export const openThread = (agent?: string): Promise<{ thread_id: string }> => change("POST", "/api/threads", { agent });

/** Post a message. It waits for the run that is under way, or with `steer` that run gets it. */
export const say = (
  id: string,
  content: string,
  files: string[] = [],
  whileRunning: "queue" | "steer" = "queue",
): Promise<{ run_id: string }> =>
  change("POST", `/api/threads/${part(id)}/messages`, {
    ...(content && { content }),
    ...(files.length && { files }),
    ...(whileRunning !== "queue" && { while_running: whileRunning }),
  });

/** The files of a chat's messages, by the id of the message. */
export async function messageFiles(id: string): Promise<Record<string, FileRef[]>> {
  const { messages } = await thread(id);
  return Object.fromEntries(messages.flatMap(({ id, parts }) => (parts ? [[id, filesIn(parts)]] : [])));
}

/** The turns of a chat, also superseded ones and those that a fork started from. */
export async function turns(id: string): Promise<Turn[]> {
  const chat = await get<{ interactions: Interaction[] }>(`/chats/${part(id)}`, { include_superseded: "true" });
  return chat.interactions.map((each) => ({
    runId: runOf(each.id),
    parentId: each.parent_id && runOf(each.parent_id),
    question: each.user_message,
    isSuperseded: each.superseded_by !== null,
  }));
}

const runOf = (interaction: string): string => interaction.replace(/^int_/, "");

/**
 * Replace a run's message; returns the id of the run that answers. The request is a stream, of which
 * the first frame is enough: `follow` is called with the id, and the stream let go when that is under way.
 */
export async function edit(
  threadId: string,
  runId: string,
  text: string,
  follow: (runId: string) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const response = await send(`/chats/${part(threadId)}/interactions/int_${part(runId)}/edit`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream", "Idempotency-Key": newKey() },
    body: JSON.stringify({ new_user_message: text }),
    signal: stop.signal,
  });
  if (response.body === null) return;
  for await (const [first] of frames(response.body, () => undefined)) {
    if (first) await follow(runOf((JSON.parse(first.data) as { interaction_id: string }).interaction_id));
    break;
  }
  stop.abort();
}

/** A new chat that continues from the end of this run, or from its event `seq`. */
export const forkThread = (id: string, runId: string, seq?: number): Promise<{ thread_id: string }> =>
  change("POST", `/api/threads/${part(id)}/fork`, { run_id: runId, ...(seq !== undefined && { at_seq: seq }) });

// --- runs

export type RunQuery = {
  status?: Status | undefined;
  agent?: string | undefined;
  error?: string | undefined;
  /** A time with a zone. */
  since?: string | undefined;
  min_usd?: number | undefined;
  /** The beginning or the end of an id. */
  id_part?: string | undefined;
  before?: string | undefined;
  limit?: number | undefined;
};

export const runs = (query: RunQuery = {}): Promise<{ runs: RunRow[]; next: string | null }> =>
  get("/api/runs", query);

/** The ids of the newest runs that begin or end with this part, of 8 or more characters. */
export const runIds = async (idPart: string): Promise<string[]> =>
  (await get<{ ids: string[] }>("/api/ids", { kind: "run", part: idPart })).ids;

/** The run that was started last in a thread. */
export const newestRun = async (threadId: string): Promise<string | undefined> =>
  (await get<{ runs: RunRow[] }>("/api/runs", { thread_id: threadId, limit: 1 })).runs[0]?.run_id;

export const run = (id: string): Promise<RunSeen> => get(`/api/runs/${part(id)}`);

export const cancel = (id: string): Promise<{ status: Status }> => change("POST", `/api/runs/${part(id)}/cancel`);

/** Retry a run as a new run. */
export const retry = (id: string): Promise<{ run_id: string }> => change("POST", `/api/runs/${part(id)}/retry`);

/** The request of the step that began with the event `at` to its model, rebuilt. */
export const modelRequest = (id: string, at: number): Promise<ModelRequest> =>
  get(`/api/runs/${part(id)}/request`, { at });

/** The documents that a run's answer rests on and that the server has. */
export const sources = async (id: string): Promise<Source[]> =>
  (await get<{ sources: Source[] }>(`/api/runs/${part(id)}/sources`)).sources;

/** Where the conversation of a run is to be seen. */
export async function placeOf(threadId: string): Promise<Route> {
  const is = (path: string) =>
    get(`${path}/${part(threadId)}`).then(
      () => true,
      () => false,
    );
  if (await is("/api/threads")) return { view: "chats", id: threadId };
  return { view: (await is("/api/channels")) ? "channels" : "dms", id: threadId };
}

// --- feedback

export const feedbackOn = async (id: string): Promise<Feedback | null> =>
  (await get<{ feedback: Feedback | null }>(`/api/runs/${part(id)}/feedback`)).feedback;

export const giveFeedback = (id: string, value: Feedback["value"], comment: string | undefined): Promise<unknown> =>
  change("PUT", `/api/runs/${part(id)}/feedback`, { value, comment });

export const takeFeedbackBack = (id: string): Promise<unknown> =>
  change("DELETE", `/api/runs/${part(id)}/feedback`);

/** The feedback on the turns of a chat, by run. Turns before a fork are runs of another chat. */
export async function chatFeedback(threadId: string, turns: readonly string[]): Promise<Record<string, Feedback>> {
  const found = new Map<string, Feedback | null>();
  let before: string | undefined;
  do {
    const page: { runs: RunRow[]; next: string | null } = await get("/api/runs", {
      thread_id: threadId,
      limit: 200,
      before,
    });
    for (const row of page.runs) found.set(row.run_id, row.feedback ?? null);
    before = page.next ?? undefined;
  } while (before !== undefined);
  for (const id of turns) if (!found.has(id)) found.set(id, await feedbackOn(id));
  return Object.fromEntries([...found].flatMap(([id, feedback]) => (feedback ? [[id, feedback]] : [])));
}

// --- links to chats

export const shares = async (threadId: string): Promise<ShareRow[]> =>
  (await get<{ shares: ShareRow[] }>(`/api/threads/${part(threadId)}/shares`)).shares;

export const share = (threadId: string, days: number): Promise<ShareRow & { path: string }> =>
  change("POST", `/api/threads/${part(threadId)}/shares`, { days });

export const revokeShare = (threadId: string, id: string): Promise<unknown> =>
  change("DELETE", `/api/threads/${part(threadId)}/shares/${part(id)}`);

/** The conversation behind a link; null if the link is unknown, revoked or expired. */
export async function shared(token: string): Promise<SharedThread | null> {
  try {
    return (await (await send("/api/shared", { headers: { "X-Share-Token": token } })).json()) as SharedThread;
  } catch (error) {
    if (error instanceof Problem && (error.status === 404 || error.status === 422)) return null;
    throw error;
  }
}

// --- waits

/** Everything that waits for a person or a client, newest first. */
export async function waits(): Promise<WaitRow[]> {
  const found: WaitRow[] = [];
  let before: string | undefined;
  do {
    const page: { waits: WaitRow[]; next: string | null } = await get("/api/waits", { limit: 200, before });
    found.push(...page.waits);
    before = page.next ?? undefined;
  } while (before !== undefined);
  return found;
}

/** One wait, with the whole message that led to it. */
export const wait = (id: string): Promise<WaitRow> => get(`/api/waits/${part(id)}`);

export type Verdict = { decision: "approve" | "reject"; reason?: string; input?: Json };

export const decide = (id: string, verdict: Verdict): Promise<unknown> =>
  change("POST", `/api/approvals/${part(id)}`, verdict);

export const answerWait = (id: string, value: Json): Promise<WaitRow> =>
  change("POST", `/api/waits/${part(id)}`, { value });

/** Report that the tool of the client failed. */
export const failWait = (id: string, error: string): Promise<WaitRow> =>
  change("POST", `/api/waits/${part(id)}`, { error });

// --- statistics

/** Runs over time; of all owners with `all`. */
export const statistics = (query: {
  days: number;
  agent?: string | undefined;
  all?: boolean | undefined;
}): Promise<Statistics> => get("/api/statistics", { ...query, all: query.all ? "true" : undefined });

/** Who the key of this tab is for. */
export const me = (): Promise<{ owner: string; scopes: string[]; can_share: boolean }> => get("/api/me");

// --- agents

export async function agents(): Promise<Agent[]> {
  const found: Agent[] = [];
  let after: string | undefined;
  do {
    const page: { agents: Agent[]; next: string | null } = await get("/api/agents", { limit: 100, after });
    found.push(...page.agents);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return found;
}
