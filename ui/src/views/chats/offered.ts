/** The agents that a chat can begin with, and what they say of themselves. */

import type { Agent } from "../../api/wire";
import { Cell } from "../../state/cell";

/** The agent that was chosen: on the page of a new chat, or in the command palette. */
export const wantedAgent = new Cell<string | undefined>(undefined);

/** The agents that answer messages; the default one first. */
export const offered = (agents: readonly Agent[]): Agent[] =>
  agents.filter(({ canChat }) => canChat).sort((one, other) => Number(other.isDefault) - Number(one.isDefault));

/** What an agent does, in a line: its title, or the first paragraph of its own description. */
export const about = ({ title, description }: Agent): string =>
  title || (description.split("\n\n")[0] ?? "").replace(/\s+/g, " ");
