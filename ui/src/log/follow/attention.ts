/**
 * Whether this tab is in the foreground. A tab in the background holds no stream for long, because a browser opens six
 * connections to a server for all its tabs together; it comes back to where it was when it is looked at.
 */

const LONG = 10_000;

export const isHidden = (): boolean => typeof document !== "undefined" && document.visibilityState === "hidden";

/** Resolves when the tab is looked at, or `stop` says so. */
export function seen(stop: AbortSignal): Promise<void> {
  if (!isHidden()) return Promise.resolve();
  return new Promise((done) => {
    const look = () => !isHidden() && done();
    document.addEventListener("visibilitychange", look, { signal: stop });
    stop.addEventListener("abort", () => done(), { once: true });
  });
}

/** Calls `act` when the tab has been in the background for long; returns how to stop that. */
export function whenUnseen(act: () => void): () => void {
  if (typeof document === "undefined") return () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (isHidden()) timer = setTimeout(act, LONG);
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}
