/** Chats: the list at the side, and one conversation, or the beginning of one. */

import { useState } from "preact/hooks";
import type { Found } from "../../state/route";
import { Side } from "../../frame/side";
import { Chat } from "./chat";
import { ChatList } from "./list";
import { NewChat } from "./new";

export function Chats({ id, found }: { id: string | undefined; found: Found | undefined }) {
  const [changes, setChanges] = useState(0);
  const changed = () => setChanges((count) => count + 1);
  return (
    <div class="view with-side">
      <Side label="Chats" at={id}>
        <ChatList selected={id} changes={changes} />
      </Side>
      <main class="main">
        {id === undefined ? <NewChat began={changed} /> : <Chat key={id} id={id} found={found} changed={changed} />}
      </main>
    </div>
  );
}
