/** Where the page is: the part of the address after `#`. */

import { Cell, useCell } from "./cell";

export type Route =
  | { view: "chats"; id?: string }
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

export function parse(hash: string): Route {
  const [view = "", id, more] = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decodeURIComponent);
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
      return id ? { view: "chats", id } : { view: "chats" };
    default:
      return { view: "nowhere" };
  }
}

export const href = (route: Route): string => {
  const more = "other" in route ? route.other : "message" in route ? route.message : undefined;
  const parts = [route.view, "id" in route ? route.id : undefined, more];
  return `#/${parts.flatMap((part) => (part ? [encodeURIComponent(part)] : [])).join("/")}`;
};

export const go = (route: Route): void => {
  location.hash = href(route);
};

const place = new Cell<string>(typeof location === "undefined" ? "" : location.hash);
if (typeof addEventListener !== "undefined") addEventListener("hashchange", () => place.set(location.hash));

export const useRoute = (): Route => parse(useCell(place));
