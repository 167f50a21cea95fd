import type { WebSocketConstructor } from "../../sdk/connection/websocket.ts";
import { createClient } from "../../sdk/index.ts";
import { createRecorder, type Ledger, type Place } from "./recorder.ts";

/** A client under test. `account` waits until it shows these messages, and at most `ms`. */
export type Listener = {
  untilConnected: Promise<void>;
  account(last: readonly string[], ms: number): Promise<Ledger>;
};

/** A WebSocket behind a firewall that blocks WebSockets. */
const BlockedWebSocket: WebSocketConstructor = class {
  addEventListener(type: string, listener: (event: object) => void) {
    if (type === "close") queueMicrotask(() => listener({ code: 1006, reason: "" }));
  }

  send() {}
  close() {}
};

/** Connects with the client of the SDK and its default times. */
export function listen(place: Place, token: () => string | Promise<string>): Listener {
  const isBlocked = place.transport === "sse"; // then it makes no requests, and so has no views
  const recorder = createRecorder(place, token, (cid) => {
    // It may fail, as the connection may break.
    if (!isBlocked) client.markRead(cid).catch(() => undefined);
  });
  const client = createClient({ ...recorder.options, ...(isBlocked && { WebSocket: BlockedWebSocket }) });
  const views = isBlocked ? [] : place.rooms.map((cid) => client.conversation(cid));
  for (const view of views) view.subscribe(() => undefined);
  client.start();
  const showing = {
    readViews: () =>
      views.map((view): Ledger["views"][number] => [
        view.cid,
        view.getSnapshot().messages.map(({ _id, body }) => [_id, body]),
      ]),
    readCounts: () =>
      new Map(client.conversations.getSnapshot().conversations.map((one) => [one._id, one.unread_messages_count])),
    listConversations: client.listConversations,
  };
  return {
    untilConnected: recorder.untilConnected,
    account: (last, ms) => recorder.account(last, ms, isBlocked ? undefined : showing),
  };
}
