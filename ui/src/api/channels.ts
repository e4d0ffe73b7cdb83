/** What the page asks about channels, DMs, and agents in them. */

import { change, get, part } from "./http";
import type { Agent, Block, Channel, Dm, Message, Passage } from "./wire";

export type Place = { kind: "channels" | "dms"; id: string };

const where = ({ kind, id }: Place) => (kind === "channels" ? { channelId: id } : { dmConversationId: id });

export const channels = async (): Promise<Channel[]> =>
  (await get<{ channels: Channel[] }>("/api/channels", { limit: 100 })).channels;

export const dms = async (): Promise<Dm[]> => (await get<{ dms: Dm[] }>("/api/dms", { limit: 100 })).dms;

export const openChannel = (given: {
  name: string;
  topic?: string;
  kind: Channel["kind"];
  agents: string[];
}): Promise<Channel> => change("POST", "/api/channels", given);

export const openDm = (agentId: string): Promise<Dm> => change("POST", "/api/dms", { agentId });

export const addAgent = (channelId: string, agentId: string): Promise<Channel> =>
  change("PUT", `/api/channels/${part(channelId)}/members/agent/${part(agentId)}`);

export const removeAgent = (channelId: string, agentId: string): Promise<Channel> =>
  change("DELETE", `/api/channels/${part(channelId)}/members/agent/${part(agentId)}`);

/** The last messages of a place, oldest first. */
export const messages = (place: Place, before?: string): Promise<{ messages: Message[]; next: string | null }> =>
  get("/api/messages", { ...where(place), limit: 100, before });

export const say = (place: Place, text: string, parentMessageId?: string): Promise<Message> =>
  change("POST", "/api/messages", { ...where(place), text, ...(parentMessageId && { parentMessageId }) });

export const react = (messageId: string, emoji: string): Promise<unknown> =>
  change("POST", `/api/messages/${part(messageId)}/reactions`, { emoji });

export const agent = (id: string): Promise<Agent> => get(`/api/agents/${part(id)}`);

export const blocks = async (id: string): Promise<Block[]> =>
  (await get<{ blocks: Block[] }>(`/api/agents/${part(id)}/memory`)).blocks;

export const setBlock = (id: string, label: string, content: string): Promise<Block> =>
  change("PUT", `/api/agents/${part(id)}/memory/${part(label)}`, { content });

export const dropBlock = (id: string, label: string): Promise<void> =>
  change("DELETE", `/api/agents/${part(id)}/memory/${part(label)}`);

export const passages = async (id: string, query?: string): Promise<Passage[]> =>
  (await get<{ passages: Passage[] }>(`/api/agents/${part(id)}/passages`, { limit: 50, query: query || undefined }))
    .passages;

export const prompt = (id: string, place?: Place): Promise<{ systemPrompt: string }> =>
  get(`/api/agents/${part(id)}/prompt`, place ? where(place) : {});

export type AgentRun = { id: string; status: string; createdAt: string; stopReason: string | null };

export const agentRuns = async (id: string): Promise<AgentRun[]> =>
  (await get<{ runs: AgentRun[] }>(`/api/agents/${part(id)}/runs`, { limit: 20 })).runs;
