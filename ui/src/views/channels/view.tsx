/** Channels, DMs and agents: the list at the side, and the one that was chosen. */

import { agents, me } from "../../api/calls";
import { channels, dms, type Place } from "../../api/channels";
import { useReading } from "../../state/requests";
import { Side } from "../../frame/side";
import type { Route } from "../../state/route";
import { AgentPage } from "./agent";
import { PlaceView } from "./place/place";
import { Places } from "./places";
import { Failure } from "../../frame/failure";
import { Loading } from "../../frame/states";

const EVERY = 10_000;

export type ChannelsRoute = Extract<Route, { view: "channels" | "dms" | "agents" }>;

export function Channels({ route }: { route: ChannelsRoute }) {
  const { value: found, failure, again } = useReading(readAll, [], EVERY);
  const id = route.id;
  const place: Place | undefined = route.view !== "agents" && id ? { kind: route.view, id } : undefined;
  return (
    <div class="view with-side">
      <Side label="Channels" at={id}>
        <Failure text={failure} again={again} />
        {!found && !failure && <Loading />}
        {found && <Places {...found} selected={id} again={again} />}
      </Side>
      {route.view === "agents" && id ? (
        <AgentPage key={id} id={id} channels={found?.channels ?? []} />
      ) : place ? (
        <PlaceView
          key={place.id}
          place={place}
          agents={found?.agents ?? []}
          me={found?.me}
          changed={again}
          target={route.view === "agents" ? undefined : route.message}
        />
      ) : (
        <Nothing isEmpty={found?.channels.length === 0} />
      )}
    </div>
  );
}

async function readAll() {
  const [all, open, direct, who] = await Promise.all([agents(), channels(), dms(), me()]);
  return { agents: all, channels: open, dms: direct, me: who.owner };
}

const Nothing = ({ isEmpty }: { isEmpty: boolean }) => (
  <main class="main empty">
    <h1>Channels</h1>
    <p class="lead">
      People and agents in one place.{" "}
      {isEmpty
        ? "There is no channel yet: make one with + at the side, and put agents into it."
        : "Open a channel at the side, or make one and put agents into it."}
    </p>
  </main>
);
