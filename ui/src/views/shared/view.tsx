/** A conversation that was shared by a link: read-only, without a key, and without the rest of the page. */

import { useEffect } from "preact/hooks";
import { shared } from "../../api/calls";
import type { SharedMessage, SharedThread } from "../../api/wire";
import { Failure } from "../../frame/failure";
import { ThemeButton } from "../../frame/theme";
import icon from "../../icon.svg";
import { useReading } from "../../state/requests";
import { Markdown } from "../../parts/text/markdown";
import { day } from "../../parts/text/words";

export function Shared({ token }: { token: string }) {
  const { value: found, failure } = useReading(() => shared(token), [token]);
  useEffect(() => {
    document.title = `${found?.title ? `${found.title.slice(0, 60)} · ` : ""}Runyard`;
  }, [found?.title]);
  return (
    <>
      <header class="bar">
        <span class="brand">
          <img src={icon} alt="" width="22" height="22" />
          <span>Runyard</span>
        </span>
        <span class="shared-note">Shared conversation, read-only</span>
        <ThemeButton />
      </header>
      <main class="view page">
        <div class="column shared">
          <Failure text={failure} />
          {found === undefined && !failure && <p class="faint">Loading…</p>}
          {found === null && <NotFound />}
          {found && <Conversation found={found} />}
        </div>
      </main>
    </>
  );
}

const NotFound = () => (
  <>
    <h1>Not found or expired</h1>
    <p class="lead">
      This link is unknown, it was revoked, or its time is over. Ask the person who sent it for another one.
    </p>
  </>
);

function Conversation({ found }: { found: SharedThread }) {
  return (
    <>
      <div>
        <h1 class="shared-title">{found.title ?? "Conversation"}</h1>
        <p class="faint">
          As it was on {day(found.shared_at)}. The link is valid until {day(found.expires_at)}.
        </p>
      </div>
      <section class="said" aria-label="Conversation">
        {found.messages.map((message, place) => (
          <Message key={place} message={message} />
        ))}
      </section>
    </>
  );
}

function Message({ message: { role, content, files } }: { message: SharedMessage }) {
  const attached = files.length > 0 && <p class="faint">{`Files: ${files.join(", ")}`}</p>;
  if (role === "user")
    return (
      <article class="asked" aria-label="Message">
        <div class="question">{content}</div>
        {attached}
      </article>
    );
  return (
    <article class="answer" aria-label="Answer">
      <Markdown text={content} />
      {attached}
    </article>
  );
}
