/** Where the page is: the part of the address after `#`. */

import { Cell, useCell } from "./cell";
import { decoded } from "./decoded";

/** A message of a chat: the question of a run or its answer, and the words that a search found in it. */
export type Found = { run: string; part: "question" | "answer"; words?: string };

export type Route =
  | { view: "chats"; id?: string; found?: Found }
  | { view: "channels"; id?: string; message?: string }
  | { view: "dms"; id: string; message?: string }
  | { view: "agents"; id: string }
  | { view: "runs"; id?: string }
  | { view: "compare"; id: string; other: string }
  | { view: "overview" }
  | { view: "shared"; id: string }
  | { view: "approvals"; id?: string }
  | { view: "messages"; id: string }
  | { view: "nowhere" };

/** The part of the address that names the view. `query.ts` has the rest. */
export const withoutQuery = (hash: string): string => hash.split("?", 1)[0] ?? "";

export function parse(hash: string): Route {
  const parts = withoutQuery(hash).replace(/^#?\/?/, "").split("/").map(decoded);
  if (parts.includes(undefined)) return { view: "nowhere" };
  const [view = "", id, more, part, words] = parts;
  switch (view) {
    case "channels":
      return id ? { view, id, ...(more && { message: more }) } : { view };
    case "runs":
    case "approvals":
      return id ? { view, id } : { view };
    case "compare":
      return id && more ? { view, id, other: more } : { view: "runs" };
    case "dms":
      return id ? { view, id, ...(more && { message: more }) } : { view: "channels" };
    case "agents":
      return id ? { view, id } : { view: "channels" };
    case "shared":
      return { view, id: id ?? "" };
    case "messages":
      return id ? { view, id } : { view: "channels" };
    case "overview":
      return { view };
    case "":
    case "chats":
      if (!id || !more) return id ? { view: "chats", id } : { view: "chats" };
      return {
        view: "chats",
        id,
        found: { run: more, part: part === "answer" ? part : "question", ...(words && { words }) },
      };
    default:
      return { view: "nowhere" };
  }
}

export const href = (route: Route): string => {
  const parts = [route.view, "id" in route ? route.id : undefined, ...moreOf(route)];
  return `#/${parts.flatMap((part) => (part ? [encodeURIComponent(part)] : [])).join("/")}`;
};

function moreOf(route: Route): (string | undefined)[] {
  if ("other" in route) return [route.other];
  if ("message" in route) return [route.message];
  return "found" in route ? [route.found?.run, route.found?.part, route.found?.words] : [];
}

export const go = (route: Route): void => {
  location.hash = href(route);
};

export const place = new Cell<string>(typeof location === "undefined" ? "" : location.hash);
if (typeof addEventListener !== "undefined") addEventListener("hashchange", () => place.set(location.hash));

export const useRoute = (): Route => parse(useCell(place));
