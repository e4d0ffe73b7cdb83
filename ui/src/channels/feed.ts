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

export type Office = { messages: ReadonlyMap<string, Message>; typing: Typing };

export const EMPTY: Office = { messages: new Map(), typing: new Map() };

export function told(office: Office, entry: Entry): Office {
  switch (entry.event) {
    case "message_created":
      return office.messages.has(entry.data.id) ? office : loaded(office, [entry.data]);
    case "reaction_added": {
      const message = office.messages.get(entry.data.messageId);
      return message
        ? loaded(office, [{ ...message, reactions: withReaction(message.reactions ?? [], entry.data) }])
        : office;
    }
    case "agent_typing": {
      const { agentId, runId } = entry.data;
      return { ...office, typing: new Map(office.typing).set(runId, { agentId, placeId: placeOf(entry.data) }) };
    }
    case "agent_done": {
      const typing = new Map(office.typing);
      typing.delete(entry.data.runId);
      return { ...office, typing };
    }
  }
}

/** Messages as the server has them now, in the place of what was known of them. */
export function loaded(office: Office, found: readonly Message[]): Office {
  const messages = new Map(office.messages);
  for (const message of found) messages.set(message.id, message);
  return { ...office, messages };
}

function withReaction(reactions: readonly Reaction[], { emoji, userId, isAgent }: Reaction): Reaction[] {
  const others = reactions.filter((each) => each.emoji !== emoji || each.userId !== userId || each.isAgent !== isAgent);
  return [...others, { emoji, userId, isAgent }];
}

export const placeOf = ({ channelId, dmConversationId }: Placed): string => channelId ?? dmConversationId ?? "";

/** What was said in a place, oldest first; replies belong to the message they reply to. */
export function said(office: Office, placeId: string, parentId: string | null = null): Message[] {
  const here = [...office.messages.values()].filter(
    (each) => placeOf(each) === placeId && each.parentMessageId === parentId,
  );
  return here.sort((one, other) => (one.id < other.id ? -1 : 1));
}

export const typingIn = (office: Office, placeId: string): string[] =>
  [...office.typing.values()].filter((each) => each.placeId === placeId).map((each) => each.agentId);
