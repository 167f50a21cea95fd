import { openSocket, type Socket } from "../../harness/clients/socket.ts";
import { openSse, type Sse } from "../../harness/clients/sse.ts";
import type { Event, ListedMessage } from "../../harness/clients/wire.ts";
import { within } from "../../harness/deadline.ts";
import type { Random } from "../../harness/random.ts";

/** What a client shows, and what its connections heard. */
export type ChangeListener = {
  readonly uid: string;
  /** The texts that it shows, by the ids of the messages. */
  readonly shown: ReadonlyMap<string, string>;
  /** What each connection heard, in order; see `keyOf`. */
  readonly runs: readonly (readonly string[])[];
  close(): void;
};

type Options = {
  uid: string;
  token: string;
  cid: string;
  urls: readonly string[];
  random: Random;
  /** Whether it uses a stream of server-sent events, and reads its conversations over a socket. */
  isStream: boolean;
  /** The only message that it knows when it connects first. */
  known?: { id: string; text: string } | undefined;
};

type Connection = { recovered: boolean | undefined; ended: Promise<unknown>; close(): void };

const connectWithinMs = 10_000;
const longestPauseMs = 400;
const pageSize = 100;

/** Connects to any node, again and again with `since`, and follows edits and recalls, until it is closed. */
export async function listenToChanges({
  uid,
  token,
  cid,
  urls,
  random,
  isStream,
  known,
}: Options): Promise<ChangeListener> {
  const shown = new Map(known === undefined ? [] : [[known.id, known.text]]);
  const runs: string[][] = [];
  let since = known?.id;
  let connection: Connection | undefined;
  let isOver = false;

  function show({ message, message_edit: edit, message_delete: recall }: Event): void {
    if (message !== undefined) shown.set(message._id, message.body);
    if (edit !== undefined) shown.set(edit.id, edit.body);
    for (const id of recall?.ids ?? []) shown.delete(id);
  }

  async function connect(): Promise<void> {
    const run: string[] = [];
    runs.push(run);
    const heard: Event[] = [];
    const wish = { url: random.pick(urls), token, uid, since };
    connection = await (isStream ? openStream : openWebSocket)(wish, (event) => {
      const key = keyOf(event);
      if (key !== undefined) run.push(key);
      heard.push(event);
      show(event);
      since = event.message?._id ?? since;
    });
    if (isOver) connection.close();
    if (connection.recovered !== false) return;
    await readAgain(wish.url);
    for (const event of heard) show(event); // what was read may be older
  }

  /** Reads everything page by page, as the server cannot say what was missed. */
  async function readAgain(url: string): Promise<void> {
    using socket = await openSocket(url, { uid });
    await socket.request("connect", { token });
    const messages: ListedMessage[] = [];
    for (let before: string | undefined; ; before = messages.at(-1)?._id) {
      const page = await socket.request("message_list", {
        cid,
        limit: pageSize,
        ...(before !== undefined && { before }),
      });
      if (page.messages === undefined) throw new Error(`no messages for ${uid}: ${JSON.stringify(page)}`);
      messages.push(...page.messages);
      if (page.messages.length < pageSize) break;
    }
    const there = new Set(messages.map(({ _id }) => _id));
    for (const id of shown.keys()) if (!there.has(id)) shown.delete(id);
    for (const { _id, body } of messages) shown.set(_id, body);
  }

  async function stayConnected(): Promise<void> {
    while (!isOver) {
      await connection?.ended;
      while (!isOver) {
        await Bun.sleep(random.next() * longestPauseMs);
        try {
          await within(connect(), "a connection", connectWithinMs);
          break;
        } catch {
          connection?.close();
        }
      }
    }
  }

  await connect();
  void stayConnected();
  return {
    uid,
    shown,
    runs,
    close() {
      isOver = true;
      connection?.close();
    },
  };
}

/** What an event is known by: its kind, and what sets it apart from others of its kind. `undefined` for other events. */
function keyOf({ message, message_edit: edit, message_delete: recall, message_read: read }: Event): string | undefined {
  if (message !== undefined) return `message ${message._id}`;
  if (edit !== undefined) return `edit ${edit.id} ${edit.body}`;
  if (recall !== undefined) return `recall ${recall.ids.join()}`;
  return read && `read ${read.from} ${read.ids.join()}`;
}

type Wish = { url: string; token: string; uid: string; since: string | undefined };

async function openWebSocket({ url, token, uid, since }: Wish, onHeard: (event: Event) => void): Promise<Connection> {
  const socket: Socket = await openSocket(url, { uid, onHeard });
  const response = await socket.request("connect", { token, ...(since !== undefined && { since }) });
  if (response.success !== true) throw new Error(`${uid} could not connect: ${JSON.stringify(response)}`);
  return { recovered: response.recovered, ended: socket.closed, close: socket.terminate };
}

async function openStream({ url, token, uid, since }: Wish, onHeard: (event: Event) => void): Promise<Connection> {
  const headers = { Authorization: `Bearer ${token}`, ...(since !== undefined && { "Last-Event-ID": since }) };
  const sse: Sse = await openSse(url, headers, uid, onHeard);
  const recovered = sse.headers.get("herald-recovered");
  return { recovered: recovered === null ? undefined : recovered === "true", ended: sse.closed, close: sse.close };
}
