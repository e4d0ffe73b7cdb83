/** A dialog over the page: Escape and a click beside it close it, and the focus comes back to where it was. */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

export function Dialog({
  title,
  close,
  children,
}: {
  title: string;
  close?: (() => void) | undefined;
  children: ComponentChildren;
}) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Not `useEffect`, which runs after the screen is drawn: keys that are pressed before that would go elsewhere.
  useLayoutEffect(() => {
    box.current?.showModal();
    return () => box.current?.close();
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close?.();
      }}
      onClick={(event) => event.target === box.current && close?.()}
    >
      <div class="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          {close && (
            <button type="button" class="quiet" aria-label="Close" onClick={close}>
              ✕
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
