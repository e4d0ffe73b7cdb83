/** The list beside a view. On a narrow screen it is folded away, also again when something was chosen. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

export function Side({ label, at, children }: { label: string; at: string | undefined; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [at]);
  return (
    <>
      <button type="button" class="side-toggle quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        ☰ {label}
      </button>
      <nav class={isOpen ? "side open" : "side"} aria-label={label}>
        {children}
      </nav>
    </>
  );
}
