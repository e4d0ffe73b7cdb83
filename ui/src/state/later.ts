/** A value that follows another one after a pause, such as what is typed into a search. */

import { useEffect, useState } from "preact/hooks";

const PAUSE_MS = 250;

export function useLater<T>(value: T): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return later;
}
