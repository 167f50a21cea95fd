"use client";
import { HeraldProvider, useConnection, useConversation } from "@herald/sdk/react";

async function fetchToken(): Promise<string> {
  const response = await fetch("/api/token", { method: "POST" });
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  const { token }: { token: string } = await response.json();
  return token;
}

/** The conversation as it is now, in the browser of who is logged in. */
export function Inbox({ url }: { url: string }) {
  return (
    <HeraldProvider url={url} token={fetchToken}>
      <Messages />
    </HeraldProvider>
  );
}

function Messages() {
  const { state } = useConnection();
  const { messages } = useConversation("welcome");
  return (
    <main>
      <p>{state}</p>
      <ul>
        {messages.map(({ _id, from, body }) => (
          <li key={_id}>
            {from}: {body}
          </li>
        ))}
      </ul>
    </main>
  );
}
