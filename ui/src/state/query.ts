/**
 * The part of the address after `?`, such as the filters of a list. A change replaces the entry of the browser's
 * history, so that the way back from an item leads to the list as it was.
 */

import { useCell } from "./cell";
import { place, withoutQuery } from "./route";

export type Query = Readonly<Record<string, string>>;

export const queryIn = (hash: string): Query => {
  const at = hash.indexOf("?");
  return at < 0 ? {} : Object.fromEntries(new URLSearchParams(hash.slice(at + 1)));
};

/** The address with this query, without empty values. */
export function withQuery(hash: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return withoutQuery(hash) + (given.length ? `?${new URLSearchParams(given)}` : "");
}

/** The query, and how to replace it. */
export function useQuery(): [Query, (query: Readonly<Record<string, string | undefined>>) => void] {
  const query = queryIn(useCell(place));
  const replace = (next: Readonly<Record<string, string | undefined>>) => {
    const hash = withQuery(location.hash, next);
    history.replaceState(history.state, "", hash);
    place.set(hash);
  };
  return [query, replace];
}
