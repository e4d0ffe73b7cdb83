/**
 * The channels as shown: a fold over the feed (`GET /api/sse`) and over the messages that were there before. Pure.
 * A message may come both ways, and more than once; it is shown once.
 */

import type { Message, Reaction } from "../api/wire";

type Placed = { channelId: string | null; dmConversationId: string | null };

export type Entry =
  | { event: "message_created"; data: Message }
  | { event: "reaction_added"; data: Placed & Reaction & { messageId: string } }
  | { event: "agent_typing" | "agent_done"; data: Placed & { agentId: string; runId: string } };

/** Who is at work in a place: agents by their runs. */
export type Typing = ReadonlyMap<string, { agentId: string; placeId: string }>;

export type ChannelState = { messages: ReadonlyMap<string, Message>; typing: Typing };

export const EMPTY: ChannelState = { messages: new Map(), typing: new Map() };

export function withEntry(state: ChannelState, entry: Entry): ChannelState {
  switch (entry.event) {
    case "message_created":
      return state.messages.has(entry.data.id) ? state : withMessages(state, [entry.data]);
    case "reaction_added": {
      const message = state.messages.get(entry.data.messageId);
      return message
        ? withMessages(state, [{ ...message, reactions: withReaction(message.reactions ?? [], entry.data) }])
        : state;
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

function withReaction(reactions: readonly Reaction[], { emoji, userId, isAgent }: Reaction): Reaction[] {
  const others = reactions.filter((each) => each.emoji !== emoji || each.userId !== userId || each.isAgent !== isAgent);
  return [...others, { emoji, userId, isAgent }];
}

export const placeOf = ({ channelId, dmConversationId }: Placed): string => channelId ?? dmConversationId ?? "";

/** The messages of a channel or DM, oldest first; replies belong to the message that they answer. */
export function messagesOf(state: ChannelState, placeId: string, parentId: string | null = null): Message[] {
  const here = [...state.messages.values()].filter(
    (each) => placeOf(each) === placeId && each.parentMessageId === parentId,
  );
  return here.sort((one, other) => (one.id < other.id ? -1 : 1));
}

export const typingIn = (state: ChannelState, placeId: string): string[] =>
  [...state.typing.values()].filter((each) => each.placeId === placeId).map((each) => each.agentId);
