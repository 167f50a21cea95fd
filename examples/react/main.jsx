import {
  HeraldProvider,
  useConnection,
  useConversation,
  useConversations,
  useInbox,
  useSystemMessages,
} from "@herald/sdk/react";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const user = new URLSearchParams(location.search).get("user") ?? "bob";
const herald = import.meta.env.HERALD_URL ?? "http://127.0.0.1:7070";

async function fetchToken() {
  const response = await fetch(`/token?user=${encodeURIComponent(user)}`);
  const { token, error } = await response.json();
  if (error) throw new Error(error);
  return token;
}

function App() {
  const [cid, setCid] = useState();
  return (
    <HeraldProvider url={herald} token={fetchToken} store={() => localStorage} onError={console.error}>
      <Connection />
      <Bell />
      <Notices />
      <Conversations selected={cid} onSelect={setCid} />
      {cid && <Thread key={cid} cid={cid} />}
    </HeraldProvider>
  );
}

function Connection() {
  const { state, reason } = useConnection();
  return (
    <p role="status">
      {user} is {state} {reason}
    </p>
  );
}

function Bell() {
  const { items, unread, markRead } = useInbox();
  return (
    <details>
      <summary>Inbox {unread > 0 && `(${unread})`}</summary>
      <ul>
        {items.map(({ _id, from, x, read_at: read }) => (
          <li key={`${from} ${_id}`}>
            {JSON.stringify(x)} {!read && <b>new</b>}
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => void markRead()}>
        Mark all as read
      </button>
    </details>
  );
}

function Notices() {
  const [notices, setNotices] = useState([]);
  useSystemMessages((message) => setNotices((before) => [...before.slice(-2), message]));
  return (
    <ul aria-label="Notices">
      {notices.map(({ _id, from, x }) => (
        <li key={`${from} ${_id}`}>{JSON.stringify(x)}</li>
      ))}
    </ul>
  );
}

function Conversations({ selected, onSelect }) {
  const { conversations, hasMore, loadMore } = useConversations();
  return (
    <nav>
      {conversations.map(({ _id, name, unread_messages_count: unread }) => (
        <button key={_id} type="button" aria-pressed={_id === selected} onClick={() => onSelect(_id)}>
          {name ?? _id} {unread > 0 && `(${unread})`}
        </button>
      ))}
      {hasMore && (
        <button type="button" onClick={() => void loadMore()}>
          More
        </button>
      )}
    </nav>
  );
}

function Thread({ cid }) {
  const { messages, hasOlder, isLoaded, error, unread, loadOlder, markRead } = useConversation(cid);
  useEffect(() => {
    if (unread > 0) markRead().catch(console.error);
  }, [unread, markRead]);
  if (error) return <p role="alert">{error.message}</p>;
  return (
    <main aria-busy={!isLoaded}>
      {hasOlder && (
        <button type="button" onClick={() => void loadOlder()}>
          Older
        </button>
      )}
      <ol>
        {messages.map(({ _id, from, body, edited_at: edited }) => (
          <li key={_id}>
            <b>{from}</b> {body} {edited && <small>edited</small>}
          </li>
        ))}
      </ol>
    </main>
  );
}

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
