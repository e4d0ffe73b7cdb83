/** Everything that waits for a person, in one list that can be worked through with the keyboard. */

import { useEffect, useState } from "preact/hooks";
import type { ApprovalRow } from "../api/wire";
import { decide } from "../api/calls";
import { useDoing } from "../asking";
import { useCell } from "../cell";
import { onKey } from "../frame/help";
import { href, go } from "../route";
import { Decide, wording, type Mode } from "../run/approval";
import { Input } from "../text/input";
import { ago, short } from "../text/words";
import { look, waiting } from "./waiting";
import { Failure } from "../frame/failure";

export function Approvals() {
  const found = useCell(waiting);
  const [at, setAt] = useState<string>();
  const [mode, setMode] = useState<Mode>("asked");
  const approving = useDoing();
  const list = found ?? [];
  const place = Math.max(
    0,
    list.findIndex((row) => row.approval_id === at),
  );
  const current = list[place];

  useEffect(() => void look().catch(() => undefined), []);
  useEffect(() => setMode("asked"), [current?.approval_id]);
  useEffect(() =>
    onKey((key, event) => {
      if (!current) return;
      const actions: Record<string, () => void> = {
        j: () => setAt(list[Math.min(place + 1, list.length - 1)]?.approval_id),
        k: () => setAt(list[Math.max(place - 1, 0)]?.approval_id),
        a: () => approving.start(() => decide(current.approval_id, { decision: "approve" }).then(look)),
        e: () => current.kind === "tool" && setMode("editing"),
        r: () => setMode("rejecting"),
        o: () => go({ view: "runs", id: current.run_id }),
      };
      const action = actions[key];
      if (!action) return;
      event.preventDefault();
      action();
    }),
  );

  return (
    <main class="view page">
      <div class="column">
        <h1>Approvals</h1>
        <p class="lead">
          {found === undefined
            ? "Looking…"
            : list.length
              ? `${list.length} waiting for somebody to decide.`
              : "Nobody is waiting for you."}
        </p>
        <Failure text={approving.failure} />
        <ul class="inbox" aria-label="Waiting approvals">
          {list.map((row) => (
            <Row
              key={row.approval_id}
              row={row}
              isCurrent={row === current}
              mode={row === current ? mode : "asked"}
              setMode={(next) => (setAt(row.approval_id), setMode(next))}
              choose={() => setAt(row.approval_id)}
            />
          ))}
        </ul>
        {list.length > 0 && (
          <p class="faint keys-hint">
            <kbd>j</kbd> <kbd>k</kbd> move · <kbd>a</kbd> approve · <kbd>e</kbd> edit · <kbd>r</kbd> reject ·{" "}
            <kbd>o</kbd> open
          </p>
        )}
      </div>
    </main>
  );
}

type Shown = { row: ApprovalRow; isCurrent: boolean; mode: Mode; setMode: (mode: Mode) => void; choose: () => void };

function Row({ row, isCurrent, mode, setMode, choose }: Shown) {
  const approval = { id: row.approval_id, kind: row.kind, tool: row.tool, input: row.input };
  return (
    <li
      class={isCurrent ? "approval current" : "approval"}
      aria-current={isCurrent}
      data-approval={row.approval_id}
      onClick={choose}
    >
      <div role="group" aria-label={`Approval ${row.tool}`}>
        <p class="asks">
          {wording(approval)}
          <span class="faint">
            {ago(row.created_at)} · <a href={href({ view: "runs", id: row.run_id })}>run {short(row.run_id)}</a>
          </span>
        </p>
        <Input input={row.input} />
        <Decide approval={approval} mode={mode} setMode={setMode} done={look} />
      </div>
    </li>
  );
}
