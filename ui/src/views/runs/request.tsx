/** The request of a step to its model, rebuilt from the log: every message and every tool. */

import { modelRequest } from "../../api/calls";
import type { ModelRequest } from "../../api/wire";
import { Dialog } from "../../frame/dialog";
import { Failure } from "../../frame/failure";
import type { ModelStep } from "../../log/derived/steps";
import { useReading } from "../../state/requests";
import { CodeBlock, CopyButton } from "../../parts/text/code";
import { shown } from "../../parts/text/words";

export function RequestDialog({ runId, step, close }: { runId: string; step: ModelStep; close: () => void }) {
  const { value: request, failure } = useReading(() => modelRequest(runId, step.seq), [runId, step.seq]);
  return (
    <Dialog title={`Rebuilt request of ${step.step} to ${step.model}`} close={close}>
      <p class="faint">
        The log has no requests. This one is rebuilt from its events, with the instructions and tools of the agent as it
        is now.
      </p>
      <Failure text={failure} />
      {!request && !failure && <p class="faint">Loading…</p>}
      {request && <Request request={request} />}
    </Dialog>
  );
}

function Request({ request }: { request: ModelRequest }) {
  return (
    <div class="request">
      {request.notes.map((note) => (
        <p key={note} class="notice" role="note">
          {note}
        </p>
      ))}
      <p>
        <CopyButton text={() => JSON.stringify(request, null, 2)} label="Copy request" />
      </p>
      <section aria-label="Messages">
        {request.messages.map((message, place) => (
          <CodeBlock key={place} code={textOf(message)} language={message.role} label="Copy message" />
        ))}
      </section>
      <h3>Tools ({request.tools.length})</h3>
      <section aria-label="Tools">
        {request.tools.map(({ function: tool }) => (
          <details key={tool.name}>
            <summary>
              <code>{tool.name}</code> <span class="faint">{tool.description}</span>
            </summary>
            <CodeBlock code={shown(tool.parameters ?? {})} language="parameters" label="Copy parameters" />
          </details>
        ))}
      </section>
      {request.answer !== null && (
        <section aria-label="Answer format">
          <CodeBlock code={shown(request.answer)} language="answer format" label="Copy answer format" />
        </section>
      )}
    </div>
  );
}

/** The text of a message, and whatever else it has as JSON. */
function textOf({ role: _, content, ...rest }: ModelRequest["messages"][number]): string {
  const more = Object.keys(rest).length ? JSON.stringify(rest, null, 2) : "";
  return [shown(content ?? null), more].filter(Boolean).join("\n") || "(empty)";
}
