/** The bar on top: navigation, the state of the server, and the theme. */

import { useEffect } from "preact/hooks";
import { waitCount } from "../views/approvals/waiting";
import { useCell } from "../state/cell";
import { unread } from "../views/channels/feed/unread";
import { cutOff } from "../log/follow/follow";
import { href, type Route } from "../state/route";
import type { Counted } from "../api/overview";
import icon from "../icon.svg";
import { Account } from "./account";
import { Overview } from "./overview";
import { tabName } from "./tab-title";
import { ThemeButton } from "./theme";

export function Bar({ route, help }: { route: Route; help: () => void }) {
  const count = useCell(waitCount);
  const hasUnread = [...useCell(unread).values()].some((each) => each.count > 0);
  const name = useCell(tabName);
  useEffect(() => {
    document.title = `${count === 0 ? "" : `(${count}) `}${name ? `${name} · ` : ""}Runyard`;
  }, [count, name]);
  const inChannels = route.view === "channels" || route.view === "dms" || route.view === "agents";
  return (
    <header class="bar">
      <a class="brand" href={href({ view: "chats" })} aria-label="Runyard">
        <img src={icon} alt="" width="22" height="22" />
        <span>Runyard</span>
      </a>
      <nav aria-label="Main">
        <Place to={{ view: "chats" }} isHere={route.view === "chats"} name="Chats" />
        <Place to={{ view: "channels" }} isHere={inChannels} name="Channels" isMarked={hasUnread} />
        <Place to={{ view: "runs" }} isHere={route.view === "runs" || route.view === "compare"} name="Runs" />
        <Place to={{ view: "overview" }} isHere={route.view === "overview"} name="Overview" />
        <Place to={{ view: "approvals" }} isHere={route.view === "approvals"} name="Inbox" count={count} />
      </nav>
      <Connection />
      <Overview />
      <Account />
      <ThemeButton />
      <button
        type="button"
        class="quiet"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
        onClick={help}
      >
        ?
      </button>
    </header>
  );
}

type Shown = { to: Route; isHere: boolean; name: string; count?: Counted; isMarked?: boolean };

function Place({ to, isHere, name, count = 0, isMarked = false }: Shown) {
  return (
    <a href={href(to)} aria-current={isHere ? "page" : undefined} data-place={to.view}>
      {name}
      {count !== 0 && <span class="badge">{count}</span>}
      {isMarked && <span class="unread-dot" role="img" aria-label="unread messages" />}
    </a>
  );
}

/** Disappears when all streams have reconnected. */
function Connection() {
  const isCut = useCell(cutOff) > 0;
  return (
    <span class="connection" role="status" aria-label="Connection">
      {isCut && "Reconnecting…"}
    </span>
  );
}
