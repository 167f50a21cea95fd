import type { WebSocketConstructor } from "../../../sdk/connection/websocket.ts";
import { type ClientOptions, createClient, type Store } from "../../../sdk/index.ts";

// The client imports these when it needs them, which takes a turn of the real event loop unless they are there.
import "../../../sdk/connection/saved.ts";
import "../../../sdk/connection/stream.ts";
import "../../../sdk/secrets.ts";
import "../../../sdk/views/views.ts";

/** What the app heard from the client. */
export type Heard = { hears: string; [member: string]: unknown };

/** What a script creates a client with. */
export type SubjectOptions = {
  since: string | undefined;
  deviceId: string | undefined;
  /** `null` stands for what is no text. */
  token: () => string | null | Promise<string>;
  urls: string[];
  /** Whether it may use server-sent events, with the global `fetch`. */
  fallback: boolean;
  store: Store | undefined;
  /** Whether the app's handler throws on this message. */
  throwsOn: (id: string) => boolean;
  /** Whether it fails later. */
  rejectsOn: (id: string) => boolean;
  WebSocket: WebSocketConstructor;
  heard: (event: Heard) => void;
};

/** A client under test. `ask` resolves with the id of the first entry of the answer, if it has entries. */
export type Subject = {
  start(): void;
  stop(): void;
  ask(request: string, parameters: Record<string, unknown>, ids: string[]): Promise<string | undefined>;
};

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The code of the server's answer, if the error has one. */
export function codeOf(error: unknown): { code?: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? { code: error.code } : {};
}

/** The client of this repository. */
export function createSubject({ heard, throwsOn, rejectsOn, urls, token, ...given }: SubjectOptions): Subject {
  /** A handler that may be async, as those of apps may be. */
  function onMessage({ _id: id }: { _id: string }): unknown {
    heard({ hears: "message", id });
    if (throwsOn(id)) throw new Error("the app's handler throws");
    return rejectsOn(id) ? Promise.reject(new Error("the app's handler fails")) : undefined;
  }
  const options: ClientOptions = {
    ...given,
    url: urls,
    token: () => token() as string | Promise<string>, // an app in JavaScript may give anything
    onMessage,
    onSystemMessage: ({ _id: id, from }) => heard({ hears: "system_message", id, from }),
    onMessageEdit: ({ id, body }) => heard({ hears: "edit", id, body }),
    onMessageDelete: ({ ids }) => heard({ hears: "recall", ids }),
    onMessageRead: ({ ids, from }) => heard({ hears: "read", ids, from }),
    onMessageReactions: ({ mid: id, from, add, remove }) =>
      heard({
        hears: "reactions",
        id,
        from,
        ...(add !== undefined && { add }),
        ...(remove !== undefined && { remove }),
      }),
    onSystemMessageDelete: ({ ids, from }) => heard({ hears: "system_recall", ids, from }),
    onSystemMessageRead: ({ ids, seen }) => heard({ hears: "system_read", ids, seen }),
    onStateChange: (state, { code }) => heard({ hears: "state", state, ...(code !== undefined && { code }) }),
    onGap: ({ since }) => heard({ hears: "gap", since: since ?? null }),
    onError: (error) => heard({ hears: "error", ...codeOf(error) }),
  };
  const client = createClient(options);
  return {
    start: () => client.start(),
    stop: () => client.stop(),
    async ask(request, { cid, ...marks }, ids) {
      if (request === "ack") await client.ack(ids);
      else if (request === "message_list") return (await client.listMessages({ cid: text(cid) ?? "" }))[0]?._id;
      else if (request === "conversation_list") return (await client.listConversations()).conversations[0]?._id;
      else if (request === "system_message_list") return (await client.listInbox())[0]?._id;
      else if (request === "system_message_read") await client.markInbox(marks);
      else await client.ping();
      return undefined;
    },
  };
}
