/** @jsxImportSource react */
// The page in Chromium: a user's conversations, shown by the hooks. The test provides the functions that are declared here.
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import type { Client } from "../../../sdk/index.ts";
import { HeraldProvider, useConversation, useHeraldClient } from "../../../sdk/react.ts";
import { createRecorder, type Ledger, type Place, type Shown } from "../recorder.ts";

declare function takePlace(): Promise<Place>;
declare function takeToken(): Promise<string>;
/** Says that the page is connected, and resolves at the end. */
declare function waitForEnd(): Promise<{ last: string[]; ms: number }>;
declare function give(ledger: Ledger): Promise<void>;

const place = await takePlace();
const mounted = Promise.withResolvers<Client>();
const recorder = createRecorder(place, takeToken, (cid) => {
  // It may fail, as the connection may break.
  mounted.promise.then((client) => client.markRead(cid)).catch(() => undefined);
});

function Room({ cid }: { cid: string }) {
  const { messages, unread } = useConversation(cid);
  return (
    <ol data-room={cid} data-unread={unread}>
      {messages.map(({ _id, body }) => (
        <li key={_id} id={_id}>
          {body}
        </li>
      ))}
    </ol>
  );
}

function Rooms() {
  const client = useHeraldClient();
  useEffect(() => mounted.resolve(client), [client]);
  return place.rooms.map((cid) => <Room key={cid} cid={cid} />);
}

createRoot(document.body.appendChild(document.createElement("main"))).render(
  <StrictMode>
    <HeraldProvider {...recorder.options}>
      <Rooms />
    </HeraldProvider>
  </StrictMode>,
);

const rooms = () => [...document.querySelectorAll<HTMLElement>("[data-room]")];
const messagesIn = (room: HTMLElement): Shown => [...room.children].map((item) => [item.id, item.textContent]);
const showing = {
  readViews: () => rooms().map((room): [string, Shown] => [room.dataset.room ?? "", messagesIn(room)]),
  readCounts: () => new Map(rooms().map(({ dataset }) => [dataset.room ?? "", Number(dataset.unread)])),
  listConversations: async () => (await mounted.promise).listConversations(),
};
await recorder.untilConnected;
const { last, ms } = await waitForEnd();
await give(await recorder.account(last, ms, showing));
