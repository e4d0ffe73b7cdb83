/** Light or dark: the system's choice, unless the user chose. */

import { useState } from "preact/hooks";

const PLACE = "runyard.theme";
const NEXT = { system: "light", light: "dark", dark: "system" } as const;
const SIGN = { system: "◐", light: "☀", dark: "☾" } as const;

type Theme = keyof typeof NEXT;

const chosen = (): Theme => {
  const kept = localStorage.getItem(PLACE);
  return kept === "light" || kept === "dark" ? kept : "system";
};

export function keepTheme(theme: Theme = chosen()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function ThemeButton() {
  const [theme, setTheme] = useState(chosen);
  const change = () => {
    const next = NEXT[theme];
    localStorage.setItem(PLACE, next);
    keepTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" class="quiet" aria-label="Theme" title={`Theme: ${theme}`} onClick={change}>
      <span aria-hidden="true">{SIGN[theme]}</span>
      <span class="unseen" aria-live="polite">
        {theme}
      </span>
    </button>
  );
}
