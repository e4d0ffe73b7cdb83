/** The settings of a channel: its name, its topic, who sees it, who is in it; and how to delete it. */

import { useState } from "preact/hooks";
import { changeChannel, deleteChannel } from "../../../api/channels";
import type { Agent, Channel } from "../../../api/wire";
import { DeleteSection } from "../../../frame/delete";
import { Dialog } from "../../../frame/dialog";
import { Failure } from "../../../frame/failure";
import { useDoing } from "../../../state/requests";
import { go } from "../../../state/route";
import { MemberList } from "./members";

type Setting = { channel: Channel; agents: Agent[]; isMine: boolean; changed: () => Promise<void>; close: () => void };

export function ChannelSettings({ channel, agents, isMine, changed, close }: Setting) {
  return (
    <Dialog title={isMine ? "Channel settings" : "Members"} close={close}>
      {isMine && <Naming channel={channel} changed={changed} />}
      <section class="settings" aria-label="Members">
        {isMine && <h3>Members</h3>}
        <MemberList channel={channel} agents={agents} isMine={isMine} changed={changed} />
      </section>
      {isMine && <Deleting channel={channel} changed={changed} close={close} />}
    </Dialog>
  );
}

function Naming({ channel, changed }: Pick<Setting, "channel" | "changed">) {
  const [name, setName] = useState(channel.name);
  const [topic, setTopic] = useState(channel.topic ?? "");
  const [kind, setKind] = useState(channel.kind);
  const { isBusy, failure, start } = useDoing();
  const isChanged = name.trim() !== channel.name || topic.trim() !== (channel.topic ?? "") || kind !== channel.kind;
  const save = () =>
    start(async () => {
      await changeChannel(channel.id, { name: name.trim(), topic: topic.trim(), kind });
      await changed();
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <label>
        Name
        <input value={name} maxLength={80} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        Topic
        <input value={topic} maxLength={1000} onInput={(event) => setTopic(event.currentTarget.value)} />
      </label>
      <label class="inline">
        <input
          type="checkbox"
          checked={kind === "private"}
          onChange={(event) => setKind(event.currentTarget.checked ? "private" : "public")}
        />
        Private: only its owner and its members see it
      </label>
      <Failure text={failure} />
      <div class="buttons">
        <button class="primary" disabled={isBusy || !isChanged || !name.trim()}>
          Save
        </button>
      </div>
    </form>
  );
}

function Deleting({ channel, changed, close }: Pick<Setting, "channel" | "changed" | "close">) {
  const remove = async () => {
    await deleteChannel(channel.id);
    close();
    go({ view: "channels" });
    await changed();
  };
  return <DeleteSection what="channel" confirm={`Yes, delete # ${channel.name}`} remove={remove} />;
}
