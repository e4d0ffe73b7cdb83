/** Where the page is: the part of the address after `#`. */

import { Cell, useCell } from "./cell";

export type Route =
  | { view: "chats"; id?: string }
  | { view: "channels"; id?: string }
  | { view: "dms"; id: string }
  | { view: "agents"; id: string }
  | { view: "runs"; id?: string }
  | { view: "approvals" };

export function parse(hash: string): Route {
  const [view = "", id] = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decodeURIComponent);
  switch (view) {
    case "channels":
    case "runs":
      return id ? { view, id } : { view };
    case "dms":
    case "agents":
      return id ? { view, id } : { view: "channels" };
    case "approvals":
      return { view };
    default:
      return id ? { view: "chats", id } : { view: "chats" };
  }
}

export const href = (route: Route): string =>
  "id" in route && route.id ? `#/${route.view}/${encodeURIComponent(route.id)}` : `#/${route.view}`;

export const go = (route: Route): void => {
  location.hash = href(route);
};

const place = new Cell<string>(typeof location === "undefined" ? "" : location.hash);
if (typeof addEventListener !== "undefined") addEventListener("hashchange", () => place.set(location.hash));

export const useRoute = (): Route => parse(useCell(place));
