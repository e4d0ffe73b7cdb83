/** Reading again now and then, while the user can see the tab. */

import { keyGiven } from "../api/key";

/** Call `read` now, after every interval, when the tab comes to the front and after a sign-in. Returns how to stop. */
export function whileVisible(read: () => Promise<void>, everyMs: number, isDue = () => true): () => void {
  const now = () => document.visibilityState === "visible" && void read().catch(() => undefined);
  now();
  const timer = setInterval(() => isDue() && now(), everyMs);
  document.addEventListener("visibilitychange", now);
  const unwatch = keyGiven.watch(now);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", now);
    unwatch();
  };
}
