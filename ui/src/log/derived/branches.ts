/**
 * The branches of a conversation. Every run follows on its parent; an edit gives a parent another child. The runs of a
 * thread are a tree, and what is on screen is one way through it. Pure.
 */

export type Turn = {
  runId: string;
  parentId: string | null;
  question: string;
  isSuperseded: boolean;
};

/** A turn on screen, and where it stands among those that follow on the same one. */
export type Place = { turn: Turn; siblings: readonly Turn[]; index: number };

/** Which child was chosen at a place, by the parent's id ("" at the beginning). */
export type Choices = { readonly [parentId: string]: string };

/**
 * The way through the tree. Without a choice it follows the newest turn that is not superseded, or the newest
 * of all on a superseded branch. `turns` are in the order in which they began.
 */
export function way(turns: readonly Turn[], choices: Choices = {}): Place[] {
  const known = new Set(turns.map((turn) => turn.runId));
  const children = new Map<string, Turn[]>();
  for (const turn of turns) {
    const parent = turn.parentId && known.has(turn.parentId) ? turn.parentId : "";
    children.set(parent, [...(children.get(parent) ?? []), turn]);
  }
  const places: Place[] = [];
  let siblings = children.get("");
  while (siblings !== undefined) {
    const turn = chosen(siblings, choices[places.at(-1)?.turn.runId ?? ""]);
    if (turn === undefined) break;
    places.push({ turn, siblings, index: siblings.indexOf(turn) });
    siblings = children.get(turn.runId);
  }
  return places;
}

/** The choices that lead to a turn. */
export function choicesTo(turns: readonly Turn[], runId: string): Choices {
  const known = new Map(turns.map((turn) => [turn.runId, turn]));
  const choices: { [parentId: string]: string } = {};
  for (let turn = known.get(runId); turn !== undefined; ) {
    const parent: Turn | undefined = known.get(turn.parentId ?? "");
    choices[parent?.runId ?? ""] = turn.runId;
    turn = parent;
  }
  return choices;
}

function chosen(siblings: readonly Turn[], choice: string | undefined): Turn | undefined {
  return (
    siblings.find((turn) => turn.runId === choice) ?? siblings.findLast((turn) => !turn.isSuperseded) ?? siblings.at(-1)
  );
}

/** Whether new messages continue from the shown branch: not from a superseded one. */
export const isCurrent = (places: readonly Place[]): boolean => !(places.at(-1)?.turn.isSuperseded ?? false);
