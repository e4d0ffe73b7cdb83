/** Code, and a button that copies it. */

import { useState } from "preact/hooks";

export function CodeBlock({
  code,
  language,
  label = "Copy code",
}: {
  code: string;
  language?: string;
  label?: string;
}) {
  return (
    <figure class="code">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={() => code} label={label} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
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
