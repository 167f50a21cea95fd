/** @jsxImportSource react */
import { memo, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import {
  HeraldProvider,
  useConnection,
  useConversation,
  useConversations,
  useInbox,
  useSystemMessages,
} from "../../../sdk/react.ts";
import type { ShownMessage } from "../../../sdk/views/views.ts";

// The page of the tests: what the hooks return, as text.
const given = new URLSearchParams(location.hash.slice(1));
const [url = "", token = "", cid = ""] = ["url", "token", "cid"].map((name) => given.get(name) ?? "");

function Connection() {
  const { state, code, reason } = useConnection();
  return <p id="connection">{[state, code, reason].filter(Boolean).join(" ")}</p>;
}

/** How often the entries of messages were rendered, by their texts then. */
const rendered: Record<string, number> = {};

const Entry = memo(({ message: { body, edited_at: edited, isOpen } }: { message: ShownMessage }) => {
  rendered[body] = (rendered[body] ?? 0) + 1;
  return <li>{`${body}${edited === undefined ? "" : " (edited)"}${isOpen ? " …" : ""}`}</li>;
});
Object.assign(globalThis, { rendered });

function Thread() {
  const { messages, hasOlder, isLoaded, unread, error, loadOlder, markRead } = useConversation(cid);
  return (
    <section>
      <p id="unread">{unread}</p>
      <p id="error">{error instanceof Error ? error.message : ""}</p>
      <ol id="thread" aria-busy={!isLoaded}>
        {messages.map((message) => (
          <Entry key={message._id} message={message} />
        ))}
      </ol>
      {hasOlder && (
        <button type="button" onClick={() => void loadOlder()}>
          Older
        </button>
      )}
      <button type="button" onClick={() => void markRead().catch(() => undefined)}>
        Read
      </button>
    </section>
  );
}

function List() {
  const { conversations } = useConversations();
  return <p id="list">{conversations.map((one) => `${one._id}: ${one.unread_messages_count}`).join(", ")}</p>;
}

function Notices() {
  const [notices, setNotices] = useState<string[]>([]);
  useSystemMessages(({ x }) => setNotices((before) => [...before, String(x.text)]));
  return <p id="notices">{notices.join(", ")}</p>;
}

function Inbox() {
  const { items, unread, markRead, markSeen } = useInbox();
  const shown = items.map(({ _id, seen_at: seen, read_at: read }) => `${_id} ${read ? "read" : seen ? "seen" : "new"}`);
  return (
    <section>
      <p id="inbox">{[`${unread}:`, ...shown].join(" ")}</p>
      <button type="button" onClick={() => void markSeen()}>
        See all
      </button>
      <button type="button" onClick={() => void markRead(["a"])}>
        Read a
      </button>
    </section>
  );
}

function App() {
  const [isShown, setShown] = useState(true);
  return (
    <HeraldProvider url={url} token={() => token}>
      <Connection />
      <List />
      <Notices />
      <Inbox />
      <button type="button" onClick={() => setShown(!isShown)}>
        Toggle
      </button>
      {isShown && <Thread />}
    </HeraldProvider>
  );
}

const root = document.createElement("main");
document.body.append(root);
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
