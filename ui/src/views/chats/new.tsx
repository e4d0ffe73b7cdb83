/** The beginning of a chat: who is to answer, something to ask, and a place to ask it. */

import { useState } from "preact/hooks";
import { agents, openThread, say } from "../../api/calls";
import type { Agent } from "../../api/wire";
import { useDoing, useReading } from "../../state/requests";
import { useCell } from "../../state/cell";
import { go } from "../../state/route";
import { Composer } from "./composer";
import { about, offered, wantedAgent } from "./offered";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";

const SHOWN = 6;

export function NewChat({ began }: { began: () => void }) {
  const { value: known, failure, again } = useReading(agents, []);
  const chosen = useCell(wantedAgent);
  const { isBusy, failure: refused, start } = useDoing();
  const all = offered(known ?? []);
  const talking = all.find(({ id }) => id === chosen) ?? all[0];
  const agent = talking?.id;

  const ask = (text: string, files: string[] = [], clear?: () => void) =>
    start(async () => {
      const { thread_id } = await openThread(agent);
      await say(thread_id, text, files);
      clear?.();
      began();
      go({ view: "chats", id: thread_id });
    });

  return (
    <div class="new-chat">
      <div class="scroll">
        <div class="column">
          <h1>Talk to an agent</h1>
          <p class="lead">Everything it does is kept in a log: close this page, come back, and nothing is lost.</p>
          <Failure text={failure} again={again} />
          <Picker agents={all} chosen={agent} choose={(id) => wantedAgent.set(id)} />
          {known === undefined && !failure && <Loading />}
          {known !== undefined && all.length === 0 && (
            <p class="faint">No agent of this server answers messages. Declare one, then reload the page.</p>
          )}
          {talking && talking.samples.length > 0 && (
            <div class="examples" role="group" aria-label="Examples">
              {talking.samples.map((example) => (
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
        draft="new chat"
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
  const first = agents.slice(0, SHOWN);
  const away = agents.find(({ id }) => id === chosen && !first.some((each) => each.id === id));
  const shown = isOpen ? agents : away ? [...first, away] : first;
  return (
    <fieldset class="picker" role="radiogroup" aria-label="Agent">
      {shown.map((agent) => (
        <label key={agent.id} class="pick">
          <input
            type="radio"
            name="agent"
            value={agent.id}
            aria-label={agent.id}
            checked={agent.id === chosen}
            onChange={() => choose(agent.id)}
          />
          <strong>{agent.displayName}</strong>
          <span class="faint">{about(agent)}</span>
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
