/** A letter in a colour, the same for the same name everywhere. */

const COLOURS = 6;

export function Face({ id, isAgent }: { id: string; isAgent: boolean }) {
  const colour = [...id].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) % 997, 7) % COLOURS;
  return (
    <span class={isAgent ? "face agent-face" : "face"} data-colour={colour} aria-hidden="true">
      {id.slice(0, 1).toUpperCase()}
    </span>
  );
}
