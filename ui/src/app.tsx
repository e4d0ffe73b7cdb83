/** The page: the frame, and in it the view that the address names. */

import { useEffect } from "preact/hooks";
import { Inbox } from "./approvals/inbox";
import { keepLooking } from "./approvals/waiting";
import { needsKey } from "./api/key";
import { useCell } from "./cell";
import { keepCounting } from "./channels/unread";
import { Channels } from "./channels/view";
import { MessagePlace } from "./channels/message-place";
import { Chats } from "./chats/view";
import { Bar } from "./frame/bar";
import { Help, useShortcuts } from "./frame/help";
import { Palette, usePalette } from "./frame/palette";
import { SignIn } from "./frame/sign-in";
import { Missing } from "./frame/states";
import { Dashboard } from "./overview/view";
import { useRoute, type Route } from "./route";
import { Compare } from "./runs/compare";
import { Inspector } from "./runs/inspector";
import { RunList } from "./runs/list";
import { Shared } from "./shared/view";

export function App() {
  const route = useRoute();
  return route.view === "shared" ? <Shared key={route.id} token={route.id} /> : <Framed route={route} />;
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
      <View route={route} />
      {useCell(needsKey) && <SignIn />}
      {isPaletteOpen && <Palette close={() => setPalette(false)} />}
      {isHelpOpen && <Help close={() => setHelp(false)} />}
    </>
  );
}

function View({ route }: { route: Exclude<Route, { view: "shared" }> }) {
  switch (route.view) {
    case "chats":
      return <Chats id={route.id} />;
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
