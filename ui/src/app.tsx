/** The page: the frame, and in it the view that the address names. */

import { useEffect } from "preact/hooks";
import { Inbox } from "./views/approvals/inbox";
import { keepLooking } from "./views/approvals/waiting";
import { needsKey } from "./api/key";
import { useCell } from "./state/cell";
import { keepCounting } from "./views/channels/feed/unread";
import { Channels } from "./views/channels/view";
import { MessagePlace } from "./views/channels/place/message-place";
import { Chats } from "./views/chats/view";
import { Bar } from "./frame/bar";
import { Boundary } from "./frame/boundary";
import { Help, useShortcuts } from "./frame/help";
import { Palette, usePalette } from "./frame/palette";
import { SignIn } from "./frame/sign-in";
import { Missing } from "./frame/states";
import { Dashboard } from "./views/overview/view";
import { href, useRoute, type Route } from "./state/route";
import { Compare } from "./views/runs/compare";
import { Inspector } from "./views/runs/inspector";
import { RunList } from "./views/runs/list";
import { Shared } from "./views/shared/view";

export function App() {
  const route = useRoute();
  if (route.view !== "shared") return <Framed route={route} />;
  return (
    <Boundary place={href(route)}>
      <Shared key={route.id} token={route.id} />
    </Boundary>
  );
}

/** What a reader of a shared conversation has no part in: navigation, keys, and looking for what waits. */
function Framed({ route }: { route: Exclude<Route, { view: "shared" }> }) {
  useEffect(() => keepLooking(), []);
  useEffect(() => keepCounting(), []);
  const [isHelpOpen, setHelp] = useShortcuts();
  const [isPaletteOpen, setPalette] = usePalette();
  return (
    <>
      <Bar route={route} help={() => setHelp(true)} />
      <Boundary place={href(route)}>
        <View route={route} />
      </Boundary>
      {useCell(needsKey) && <SignIn />}
      {isPaletteOpen && <Palette close={() => setPalette(false)} />}
      {isHelpOpen && <Help close={() => setHelp(false)} />}
    </>
  );
}

function View({ route }: { route: Exclude<Route, { view: "shared" }> }) {
  switch (route.view) {
    case "chats":
      return <Chats id={route.id} found={route.found} />;
    case "channels":
    case "dms":
    case "agents":
      return <Channels route={route} />;
    case "runs":
      return route.id === undefined ? <RunList /> : <Inspector key={route.id} id={route.id} />;
    case "compare":
      return <Compare key={`${route.id} ${route.other}`} one={route.id} other={route.other} />;
    case "overview":
      return <Dashboard />;
    case "approvals":
      return <Inbox key={route.id} target={route.id} />;
    case "messages":
      return <MessagePlace key={route.id} id={route.id} />;
    case "nowhere":
      return (
        <main class="view page">
          <Missing what="page" to={{ view: "chats" }} name="New chat" />
        </main>
      );
  }
}
