/** The types of the API that the page uses (docs/http.md). */

import type { Json, Schema, Status, Usage } from "../log/events";

export type ThreadRow = {
  thread_id: string;
  kind: string;
  agent: string | null;
  head_run_id: string | null;
  created_at: string;
  /** What a person called it, or the first words of its first message. */
  title?: string | null;
};
export type Marks = [start: number, end: number][];
export type SearchPage = {
  threads: { thread_id: string; title: string; marks: Marks }[];
  messages: {
    thread_id: string;
    kind: "chat" | "channel" | "dm";
    title: string | null;
    message_id: string;
    run_id: string | null;
    role: string;
    created_at: string;
    text: string;
    marks: Marks;
  }[];
  next: string | null;
};
export type Thread = {
  thread_id: string;
  messages: { id: string; role: "user" | "assistant"; content: string; created_at: string; parts?: Json[] }[];
  next: string | null;
};

export type RunRow = {
  run_id: string;
  thread_id: string | null;
  agent: string;
  status: Exclude<Status, "waiting">;
  /** In a list: whether the run, which is running, waits for a decision. */
  waiting?: boolean;
  stop_reason: string | null;
  attempts: number;
  last_seq: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  error: string | null;
  superseded_by: string | null;
  parent_run_id?: string | null;
  /** In a list: the beginning of the message that the run answers, and what its models cost. */
  question?: string | null;
  usage?: Required<Usage>;
  feedback?: Feedback | null;
};

/** A run as it is read by its id. A waiting run is running. */
export type RunSeen = Pick<
  RunRow,
  "run_id" | "thread_id" | "status" | "created_at" | "started_at" | "finished_at" | "error"
>;

/** A person's rating of the answer of a run. */
export type Feedback = { value: "up" | "down"; comment: string | null; created_at: string };

/** A link that shows a chat to readers without a key. */
export type ShareRow = { share_id: string; created_at: string; expires_at: string };
export type SharedMessage = { role: string; content: string; created_at: string; files: string[] };
export type SharedThread = { title: string | null; shared_at: string; expires_at: string; messages: SharedMessage[] };

/** The request of a step to its model, rebuilt. `notes` say where it may differ. */
export type ModelRequest = {
  step: string;
  model: string;
  messages: { role: string; content?: Json; tool_calls?: Json; [field: string]: Json | undefined }[];
  tools: { function: { name: string; description?: string; parameters?: Json } }[];
  answer: Json;
  notes: string[];
};

/** What a run waits for from a person or a client: an approval, a question, or a tool of the client. */
export type WaitRow = {
  wait_id: string;
  run_id: string;
  call_id: string;
  kind: "tool" | "unknown_outcome" | "confirmation" | "question" | "client_tool";
  name: string;
  prompt: string | null;
  input: Json;
  answer_schema: Schema | null;
  state: string;
  created_at: string;
  expires_at: string | null;
  agent: string | null;
  /** The message that the run answers; in a list its beginning, if it is cut. */
  question: string | null;
  question_cut: boolean;
};

export type Agent = {
  id: string;
  displayName: string;
  title: string;
  avatarColor: string | null;
  systemPrompt: string;
  modelId: string | null;
  isActive: boolean;
  description: string;
  samples: string[];
  canChat: boolean;
  isDefault: boolean;
};

export type Interaction = {
  id: string;
  user_message: string;
  parent_id: string | null;
  superseded_by: string | null;
};

export type Source = { collection: string; id: string; title: string; text: string };

export type Member = { id: string; kind: "user" | "agent" };
export type Channel = {
  id: string;
  name: string;
  kind: "public" | "private";
  topic: string | null;
  members: Member[];
  ownerId: string;
};
export type Dm = { id: string; participants: Member[] };
export type Reaction = { emoji: string; userId: string; isAgent: boolean };

export type Message = {
  id: string;
  channelId: string | null;
  dmConversationId: string | null;
  parentMessageId: string | null;
  userId: string;
  isAgent: boolean;
  text: string;
  createdAt: string;
  /** The run that posted it; null for a message of a person. */
  runId: string | null;
  editedAt: string | null;
  deletedAt: string | null;
  reactions?: Reaction[];
};

/** A run that a message of a channel or DM started. */
export type ConversationRun = {
  id: string;
  agentId: string;
  status: "created" | "running" | "waiting" | "completed" | "failed" | "cancelled";
  errorCode: string | null;
  triggerMessageId: string | null;
  createdAt: string;
  completedAt: string | null;
  /** What a person or a client has to answer; null if it waits for something else. */
  waitingFor: { waitId: string; kind: WaitRow["kind"] } | null;
};

/** The read position of a channel or DM, and the number of later messages of other senders. */
export type UnreadRow = {
  channelId: string | null;
  dmConversationId: string | null;
  readMessageId: string | null;
  unread: number;
};

export type Block = { label: string; content: string; isShared: boolean; ownerId: string; updatedAt: string };
export type Passage = { id: string; content: string; tags: string[]; createdAt: string };

export type Figures = {
  runs: number;
  errors: { [code: string]: number };
  canceled: number;
  took_p50_ms: number | null;
  took_p95_ms: number | null;
  waited_p95_ms: number | null;
  first_token_p50_ms: number | null;
  first_token_p95_ms: number | null;
  usage: Required<Usage>;
};
export type Statistics = {
  days: (Figures & { day: string })[];
  agents: (Figures & { agent: string })[];
  /** Runs that have not started, and how long the oldest of them has waited. */
  queue: { runs: number; oldest_ms: number | null };
};
