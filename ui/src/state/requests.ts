/** Requests of a component to the server: a value that is read again and again, or an action. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isMissing, sentence } from "../api/http";
import { keyGiven } from "../api/key";
import { useCell } from "./cell";
import { Newest } from "./newest";

export type Reading<T> = {
  value: T | undefined;
  failure: string | undefined;
  /** Whether the server said that there is no such thing. */
  isMissing: boolean;
  again: () => Promise<void>;
};

type Found<T> = { value?: T; failure?: string; isMissing?: boolean };

/**
 * The result of `read`. Read again when `inputs` change, when the tab comes to the foreground, and every `everyMs`
 * unless a read is under way.
 */
export function useReading<T>(read: () => Promise<T>, inputs: readonly unknown[], everyMs?: number): Reading<T> {
  const [found, setFound] = useState<Found<T>>({});
  const { current: newest } = useRef(new Newest());
  const key = useCell(keyGiven);
  const again = useCallback(async () => {
    const found = await newest.take(read);
    if (found === undefined) return;
    if ("value" in found) {
      const { value } = found;
      setFound((before) => (same(before.value, value) && !before.failure ? before : { value }));
    } else setFound((before) => ({ ...before, failure: sentence(found.error), isMissing: isMissing(found.error) }));
  }, [...inputs, key]);
  useEffect(() => {
    setFound({});
    void again();
    const look = () => document.visibilityState === "visible" && void again();
    document.addEventListener("visibilitychange", look);
    const timer = everyMs && setInterval(() => newest.isOpen || look(), everyMs);
    return () => {
      newest.drop();
      document.removeEventListener("visibilitychange", look);
      clearInterval(timer);
    };
  }, [again]);
  return { value: found.value, failure: found.failure, isMissing: found.isMissing ?? false, again };
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

export type Doing = { isBusy: boolean; failure: string | undefined; start: (act: () => Promise<unknown>) => void };

/** Something to do, at most once at a time; what went wrong is kept until it is tried again. */
export function useDoing(): Doing {
  const [state, setState] = useState<{ isBusy: boolean; failure?: string }>({ isBusy: false });
  const busy = useRef(false);
  const start = useCallback((act: () => Promise<unknown>) => {
    if (busy.current) return;
    busy.current = true;
    setState({ isBusy: true });
    act()
      .then(() => setState({ isBusy: false }))
      .catch((error) => setState({ isBusy: false, failure: sentence(error) }))
      .finally(() => (busy.current = false));
  }, []);
  return { isBusy: state.isBusy, failure: state.failure, start };
}
