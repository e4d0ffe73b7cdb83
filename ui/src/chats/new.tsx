/** The beginning of a chat: who is to answer, something to ask, and a place to ask it. */

import { useState } from "preact/hooks";
import { agents, openThread, say } from "../api/calls";
import type { Agent } from "../api/wire";
import { useDoing, useReading } from "../requests";
import { go } from "../route";
import { Composer } from "./composer";
import { aboutAgent, examplesFor, inOrder } from "./examples";
import { Failure } from "../frame/failure";

const SHOWN = 6;

export function NewChat({ began }: { began: () => void }) {
  const { value: known, failure } = useReading(agents, []);
  const [chosen, choose] = useState<string>();
  const { isBusy, failure: refused, start } = useDoing();
  const all = inOrder(known ?? []);
  const agent = chosen ?? all[0]?.id;

  const ask = (text: string, files: string[] = []) =>
    start(async () => {
      const { thread_id } = await openThread(agent);
      await say(thread_id, text, files);
      began();
      go({ view: "chats", id: thread_id });
    });

  return (
    <div class="new-chat">
      <div class="scroll">
        <div class="column">
          <h1>Talk to an agent</h1>
          <p class="lead">Everything it does is kept in a log: close this page, come back, and nothing is lost.</p>
          <Failure text={failure} />
          <Picker agents={all} chosen={agent} choose={choose} />
          {agent && (
            <div class="examples" role="group" aria-label="Examples">
              {examplesFor(agent).map((example) => (
                <button key={example} type="button" class="example" disabled={isBusy} onClick={() => ask(example)}>
                  {example}
                </button>
              ))}
            </div>
          )}
        </div>
      </div>
      <Composer
        send={ask}
        isBusy={isBusy}
        failure={refused}
        placeholder={agent ? `Ask ${agent}` : "Ask"}
        hasFocus
        takesFiles
      />
    </div>
  );
}

function Picker({
  agents,
  chosen,
  choose,
}: {
  agents: Agent[];
  chosen: string | undefined;
  choose: (id: string) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? agents : agents.slice(0, SHOWN);
  return (
    <fieldset class="picker" role="radiogroup" aria-label="Agent">
      {shown.map(({ id, displayName, title }) => (
        <label key={id} class="pick">
          <input
            type="radio"
            name="agent"
            value={id}
            aria-label={id}
            checked={id === chosen}
            onChange={() => choose(id)}
          />
          <strong>{displayName}</strong>
          <span class="faint">{title || aboutAgent(id) || "an agent"}</span>
        </label>
      ))}
      {agents.length > shown.length && (
        <button type="button" class="quiet more" onClick={() => setOpen(true)}>
          {agents.length - shown.length} more
        </button>
      )}
    </fieldset>
  );
}
