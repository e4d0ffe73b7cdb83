/** Opening a channel, or a DM with an agent. */

import { useState } from "preact/hooks";
import { openChannel, openDm } from "../../api/channels";
import type { Agent } from "../../api/wire";
import { useDoing } from "../../state/requests";
import { Dialog } from "../../frame/dialog";
import { go } from "../../state/route";
import { Failure } from "../../frame/failure";

type Opening = { agents: Agent[]; close: () => void; opened: () => Promise<void> };

export function NewChannel({ agents, close, opened }: Opening) {
  const [name, setName] = useState("");
  const [topic, setTopic] = useState("");
  const [isPrivate, setPrivate] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { isBusy, failure, start } = useDoing();
  const toggle = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  const open = () =>
    start(async () => {
      const kind = isPrivate ? "private" : "public";
      const made = await openChannel({
        name: name.trim(),
        kind,
        agents: [...chosen],
        ...(topic.trim() && { topic: topic.trim() }),
      });
      await opened();
      close();
      go({ view: "channels", id: made.id });
    });
  return (
    <Dialog title="New channel" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <label>
          Name
          <input value={name} maxLength={80} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label>
          Topic
          <input value={topic} onInput={(event) => setTopic(event.currentTarget.value)} />
        </label>
        <fieldset class="checks">
          <legend>Agents, in the order in which they answer</legend>
          {agents.map(({ id, displayName }) => (
            <label key={id} class="inline">
              <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
              {displayName}
            </label>
          ))}
        </fieldset>
        <label class="inline">
          <input type="checkbox" checked={isPrivate} onChange={(event) => setPrivate(event.currentTarget.checked)} />
          Private
        </label>
        <Failure text={failure} />
        <div class="buttons">
          <button class="primary" disabled={isBusy || !name.trim()}>
            Open channel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function NewDm({ agents, close, opened }: Opening) {
  const { isBusy, failure, start } = useDoing();
  const open = (id: string) =>
    start(async () => {
      const made = await openDm(id);
      await opened();
      close();
      go({ view: "dms", id: made.id });
    });
  return (
    <Dialog title="New direct message" close={close}>
      <Failure text={failure} />
      <div class="buttons">
        {agents.map(({ id, displayName }) => (
          <button key={id} type="button" disabled={isBusy} onClick={() => open(id)}>
            {displayName}
          </button>
        ))}
      </div>
    </Dialog>
  );
}
