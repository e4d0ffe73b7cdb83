/** Code, and a button that copies it. */

import { useEffect, useState } from "preact/hooks";

export function CodeBlock({
  code,
  language,
  label = "Copy code",
  copied = code,
  isCode = false,
}: {
  code: string;
  language?: string;
  label?: string;
  /** What the button copies, if it is not what is shown. */
  copied?: string;
  /** Whether it is in a programming language, and is to be coloured. */
  isCode?: boolean;
}) {
  return (
    <figure class="code">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={() => copied} label={label} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{isCode ? <Highlighted code={code} language={language ?? ""} /> : code}</code>
      </pre>
    </figure>
  );
}

const MOST = 20_000; // characters that are coloured
let loaded: typeof import("./highlight") | undefined;

/** Plain until the colours are loaded. */
function Highlighted({ code, language }: { code: string; language: string }) {
  const [lib, setLib] = useState(loaded);
  useEffect(() => {
    if (lib === undefined) void import("./highlight").then((found) => setLib((loaded = found))).catch(() => undefined);
  }, []);
  if (lib === undefined || code.length > MOST) return <>{code}</>;
  return (
    <>
      {lib.highlight(code, language).map(({ kind, text }, place) =>
        kind === "plain" ? (
          text
        ) : (
          <span key={place} class={`hl-${kind}`}>
            {text}
          </span>
        ),
      )}
    </>
  );
}

export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await write(text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="quiet small" onClick={() => void copy()}>
      <span aria-live="polite">{isDone ? "Copied" : label}</span>
    </button>
  );
}

/** Also where the page is not served over https, and there is no clipboard for scripts. */
async function write(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
