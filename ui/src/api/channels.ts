/** The requests about channels, DMs, and agents in them. */

import { change, get, part } from "./http";
import type { Agent, Block, Channel, ConversationRun, Dm, Member, Message, Passage, UnreadRow } from "./wire";

export type Place = { kind: "channels" | "dms"; id: string };

const where = ({ kind, id }: Place) => (kind === "channels" ? { channelId: id } : { dmConversationId: id });

export const channels = async (): Promise<Channel[]> =>
  (await get<{ channels: Channel[] }>("/api/channels", { limit: 100 })).channels;

export const dms = async (): Promise<Dm[]> => (await get<{ dms: Dm[] }>("/api/dms", { limit: 100 })).dms;

/** The channel or the DM at a place. */
export const conversation = async ({ kind, id }: Place): Promise<{ channel?: Channel; dm?: Dm }> => {
  const path = `/api/${kind}/${part(id)}`;
  return kind === "channels" ? { channel: await get<Channel>(path) } : { dm: await get<Dm>(path) };
};

export const openChannel = (given: {
  name: string;
  topic?: string;
  kind: Channel["kind"];
  agents: string[];
}): Promise<Channel> => change("POST", "/api/channels", given);

export const openDm = (agentId: string): Promise<Dm> => change("POST", "/api/dms", { agentId });

export const changeChannel = (
  id: string,
  given: { name: string; topic: string; kind: Channel["kind"] },
): Promise<Channel> => change("PATCH", `/api/channels/${part(id)}`, given);

export const deleteChannel = (id: string): Promise<void> => change("DELETE", `/api/channels/${part(id)}`);

export const addMember = (channelId: string, { kind, id }: Member): Promise<Channel> =>
  change("PUT", `/api/channels/${part(channelId)}/members/${kind}/${part(id)}`);

export const removeMember = (channelId: string, { kind, id }: Member): Promise<Channel> =>
  change("DELETE", `/api/channels/${part(channelId)}/members/${kind}/${part(id)}`);

/** The newest runs that messages of a place started. */
export const conversationRuns = async ({ kind, id }: Place): Promise<ConversationRun[]> =>
  (await get<{ runs: ConversationRun[] }>(`/api/${kind}/${part(id)}/runs`, { limit: 100 })).runs;

export const unreadRows = async (): Promise<UnreadRow[]> =>
  (await get<{ conversations: UnreadRow[] }>("/api/unread")).conversations;

/** Store that the user has read a place up to this message. */
export const markRead = ({ kind, id }: Place, messageId: string): Promise<void> =>
  change("PUT", `/api/${kind}/${part(id)}/read`, { messageId });

/** The last messages of a place, oldest first. */
export const messages = (place: Place, before?: string): Promise<{ messages: Message[]; next: string | null }> =>
  get("/api/messages", { ...where(place), limit: 100, before });

export const message = (id: string): Promise<Message> => get(`/api/messages/${part(id)}`);

export const say = (place: Place, text: string, parentMessageId?: string): Promise<Message> =>
  change("POST", "/api/messages", { ...where(place), text, ...(parentMessageId && { parentMessageId }) });

export const editMessage = (id: string, text: string): Promise<Message> =>
  change("PATCH", `/api/messages/${part(id)}`, { text });

export const deleteMessage = (id: string): Promise<void> => change("DELETE", `/api/messages/${part(id)}`);

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
