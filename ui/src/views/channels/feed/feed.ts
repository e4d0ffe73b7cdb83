/**
 * The channels as shown: a fold over the feed (`GET /api/sse`) and over the messages that were there before. Pure.
 * A message may come both ways, and more than once; it is shown once.
 */

import type { Message, Reaction } from "../../../api/wire";

type Placed = { channelId: string | null; dmConversationId: string | null };

export type Entry =
  | { event: "message_created" | "message_updated" | "message_deleted"; data: Message }
  | { event: "reaction_added" | "reaction_removed"; data: Placed & Reaction & { messageId: string } }
  | { event: "agent_typing" | "agent_done"; data: Placed & { agentId: string; runId: string } };

export const EVENTS: ReadonlySet<string> = new Set<Entry["event"]>([
  "message_created",
  "message_updated",
  "message_deleted",
  "reaction_added",
  "reaction_removed",
  "agent_typing",
  "agent_done",
]);

/** Who is at work in a place: agents by their runs. */
export type Typing = ReadonlyMap<string, { agentId: string; placeId: string }>;

export type ChannelState = {
  messages: ReadonlyMap<string, Message>;
  typing: Typing;
  /** The places whose messages were read, and whether there are earlier ones. */
  hasEarlier: ReadonlyMap<string, boolean>;
};

export const EMPTY: ChannelState = { messages: new Map(), typing: new Map(), hasEarlier: new Map() };

export function withEntry(state: ChannelState, entry: Entry): ChannelState {
  switch (entry.event) {
    case "message_created":
      return state.messages.has(entry.data.id) ? state : withMessages(state, [entry.data]);
    case "message_updated":
    case "message_deleted": {
      const known = state.messages.get(entry.data.id);
      const reactions = entry.data.deletedAt ? [] : (known?.reactions ?? []);
      return known ? withMessages(state, [{ ...entry.data, reactions }]) : state;
    }
    case "reaction_added":
    case "reaction_removed": {
      const message = state.messages.get(entry.data.messageId);
      if (!message) return state;
      const reactions = withoutReaction(message.reactions ?? [], entry.data);
      const { emoji, userId, isAgent } = entry.data;
      if (entry.event === "reaction_added") reactions.push({ emoji, userId, isAgent });
      return withMessages(state, [{ ...message, reactions }]);
    }
    case "agent_typing": {
      const { agentId, runId } = entry.data;
      return { ...state, typing: new Map(state.typing).set(runId, { agentId, placeId: placeOf(entry.data) }) };
    }
    case "agent_done": {
      const typing = new Map(state.typing);
      typing.delete(entry.data.runId);
      return { ...state, typing };
    }
  }
}

/** Messages as the server has them now, in the place of what was known of them. */
export function withMessages(state: ChannelState, found: readonly Message[]): ChannelState {
  const messages = new Map(state.messages);
  for (const message of found) messages.set(message.id, message);
  return { ...state, messages };
}

const withoutReaction = (reactions: readonly Reaction[], { emoji, userId, isAgent }: Reaction): Reaction[] =>
  reactions.filter((each) => each.emoji !== emoji || each.userId !== userId || each.isAgent !== isAgent);

export const placeOf = ({ channelId, dmConversationId }: Placed): string => channelId ?? dmConversationId ?? "";

/** The messages of a channel or DM, oldest first; replies belong to the message that they answer. */
export function messagesOf(state: ChannelState, placeId: string, parentId: string | null = null): Message[] {
  return allOf(state, placeId).filter((each) => each.parentMessageId === parentId);
}

/** The messages of a channel or DM with all replies, oldest first. */
export const allOf = (state: ChannelState, placeId: string): Message[] =>
  [...state.messages.values()]
    .filter((each) => placeOf(each) === placeId)
    .sort((one, other) => (one.id < other.id ? -1 : 1));

/** The runs at work in a place, and their agents. */
export const typingIn = (state: ChannelState, placeId: string): { runId: string; agentId: string }[] =>
  [...state.typing].flatMap(([runId, { agentId, placeId: at }]) => (at === placeId ? [{ runId, agentId }] : []));
