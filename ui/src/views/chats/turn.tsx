/** One turn: the message, which can be edited, and the run that answers it. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useDoing } from "../../state/requests";
import type { Place } from "../../log/derived/branches";
import { isOver } from "../../log/events";
import { useLog } from "../../log/follow/logs";
import { href, type Found } from "../../state/route";
import type { FileRef } from "../../parts/files/files";
import { FileList } from "../../parts/files/list";
import { RunBody } from "../../parts/run/body";
import { CopyButton } from "../../parts/text/code";
import { duration, money, short } from "../../parts/text/words";
import type { RunState } from "../../log/fold/state";
import type { Feedback } from "../../api/wire";
import { Failure } from "../../frame/failure";
import { Thumbs } from "./feedback";

type Turning = {
  place: Place;
  /** The files of the chat's messages, by message. */
  files: Readonly<Record<string, readonly FileRef[]>>;
  feedback: Feedback | undefined;
  /** Read the feedback again. */
  judged: () => Promise<void>;
  edit: (runId: string, text: string) => Promise<void>;
  choose: (runId: string) => void;
  isOldBranch: boolean;
  /** What the address names: the question or the answer. */
  found: Found["part"] | undefined;
};

export function TurnCard({ place, files, feedback, judged, edit, choose, isOldBranch, found }: Turning) {
  const { runId, question } = place.turn;
  const log = useLog(runId);
  const state = log.timeline.now;
  const again = useDoing();
  const retry = isOldBranch ? undefined : () => again.start(() => edit(runId, question));
  return (
    <article
      aria-label={`Run ${short(runId)}`}
      aria-current={found ? "true" : undefined}
      data-run={runId}
      data-status={state.seq > 0 ? state.status : undefined}
      data-found={found}
      class="turn"
    >
      <Question place={place} edit={edit} choose={choose} canEdit={!isOldBranch && isOver(state.status)} />
      <FileList files={files[state.trigger ?? ""] ?? []} />
      <Failure text={log.failure} />
      <RunBody state={state} retry={retry} />
      <Failure text={again.failure} />
      <Foot runId={runId} state={state} retry={state.status === "done" ? retry : undefined}>
        {isOver(state.status) && <Thumbs runId={runId} feedback={feedback} changed={judged} />}
      </Foot>
    </article>
  );
}

function Question({ place, edit, choose, canEdit }: Pick<Turning, "place" | "edit" | "choose"> & { canEdit: boolean }) {
  const [isEditing, setEditing] = useState(false);
  const { turn, siblings, index } = place;
  if (isEditing) return <Editing place={place} edit={edit} done={() => setEditing(false)} />;
  return (
    <div class="asked">
      <div class="question" data-testid="question">
        {turn.question}
      </div>
      <div class="tools">
        {siblings.length > 1 && (
          <div class="branches" role="group" aria-label="Branches">
            <button
              type="button"
              class="quiet small"
              aria-label="Earlier branch"
              disabled={index === 0}
              onClick={() => choose(siblings[index - 1]!.runId)}
            >
              ‹
            </button>
            <span>
              {index + 1}/{siblings.length}
            </span>
            <button
              type="button"
              class="quiet small"
              aria-label="Later branch"
              disabled={index === siblings.length - 1}
              onClick={() => choose(siblings[index + 1]!.runId)}
            >
              ›
            </button>
          </div>
        )}
        {canEdit && (
          <button type="button" class="quiet small" aria-label="Edit message" onClick={() => setEditing(true)}>
            Edit
          </button>
        )}
      </div>
    </div>
  );
}

function Editing({ place, edit, done }: Pick<Turning, "place" | "edit"> & { done: () => void }) {
  const [text, setText] = useState(place.turn.question);
  const { isBusy, failure, start } = useDoing();
  const save = () =>
    start(async () => {
      await edit(place.turn.runId, text.trim());
      done();
    });
  return (
    <form
      class="editing"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) save();
      }}
    >
      <textarea
        aria-label="Edited message"
        rows={Math.min(8, text.split("\n").length + 1)}
        value={text}
        ref={(area) => area?.focus()}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && done()}
      />
      <p class="faint">Later messages move to another branch.</p>
      <Failure text={failure} />
      <div class="buttons">
        <button class="primary" disabled={isBusy || !text.trim()}>
          Save and run
        </button>
        <button type="button" onClick={done}>
          Cancel
        </button>
      </div>
    </form>
  );
}

type Footing = { runId: string; state: RunState; retry: (() => void) | undefined; children: ComponentChildren };

function Foot({ runId, state, retry, children }: Footing) {
  const texts = state.items.flatMap((item) => (item.kind === "text" ? [item.text] : []));
  const { queuedAt, finishedAt, usage } = state;
  const took = queuedAt && finishedAt && !state.copied ? duration(finishedAt - queuedAt) : undefined;
  const spent = usage.output_tokens
    ? `${(usage.input_tokens + usage.output_tokens).toLocaleString()} tokens`
    : undefined;
  const cost = usage.usd ? money(usage.usd) : undefined;
  return (
    <footer class="foot">
      <span class="agent">{state.agent}</span>
      {[took, spent, cost].filter(Boolean).map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
      {isOver(state.status) && texts.length > 0 && (
        <CopyButton text={() => texts.join("\n\n")} label="Copy answer" />
      )}
      {retry && (
        <button type="button" class="quiet small" onClick={retry}>
          Regenerate
        </button>
      )}
      <a href={href({ view: "runs", id: runId })}>Inspect run</a>
      {children}
    </footer>
  );
}
