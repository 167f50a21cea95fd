import { expect } from "bun:test";
import { type Listener, openSocket, type Socket } from "../clients/socket.ts";
import { openSse, type Sse } from "../clients/sse.ts";
import type {
  Ack,
  Ask,
  Done,
  ListedMessage,
  MessageInput,
  Noun,
  Page,
  SocketResponse,
  Token,
} from "../clients/wire.ts";
import { uniqueId } from "../random.ts";
import type { Answer, Herald } from "./herald.ts";

export type ConnectOptions = { since?: string; device_id?: string; ttlSeconds?: number };

/** One test's organization, with the most common actions. `sent…` expects 201; `send…` returns any answer. */
export type Organization = {
  readonly id: string;
  readonly herald: Herald;
  /** `/admin/organizations/{id}` and further segments, each percent-encoded. */
  path(...segments: string[]): string;
  user(uid: string): Promise<string>;
  /** Creates a conversation of these participants, who need not exist yet. Returns its id. */
  conversation(participants: string[], cid?: string): Promise<string>;
  join(cid: string, uid: string): Promise<void>;
  leave(cid: string, uid: string): Promise<void>;
  /** Returns a token for a user, creating the user if necessary. */
  token(uid: string, ttlSeconds?: number): Promise<string>;
  send<T = Ask>(senderId: string, message: MessageInput): Promise<Answer<T>>;
  sent(senderId: string, message: MessageInput): Promise<Ask["ask"]>;
  sendSystem<T = Ack>(senderId: string, messageSystem: MessageInput): Promise<Answer<T>>;
  sentSystem(senderId: string, messageSystem: MessageInput): Promise<Ack["ack"]>;
  edit<T = Done>(senderId: string, messageEdit: MessageInput): Promise<Answer<T>>;
  edited(senderId: string, messageEdit: MessageInput): Promise<void>;
  /** Changes the sender's reactions to a message. */
  react<T = Done>(senderId: string, messageReaction: MessageInput): Promise<Answer<T>>;
  reacted(senderId: string, mid: string, change: { add?: string; remove?: string }): Promise<void>;
  /** Appends to an open message, or completes it; returns any answer. */
  append<T = Done & { length: number }>(senderId: string, messageAppend: MessageInput): Promise<Answer<T>>;
  /** Like `append`, and expects 200. Returns the length. */
  appended(senderId: string, messageAppend: MessageInput): Promise<number>;
  /** Takes messages back, with a body that may be given in full. */
  recall<T = Done>(senderId: string, messageDelete: MessageInput): Promise<Answer<T>>;
  recalled(senderId: string, cid: string, ...ids: string[]): Promise<void>;
  /** Takes system messages back, by their ids. */
  recallSystem<T = Done>(senderId: string, ids: string[]): Promise<Answer<T>>;
  recalledSystem(senderId: string, ...ids: string[]): Promise<void>;
  /** Marks a conversation as read, up to the newest of `ids` or to its end; returns any answer. */
  read<T = Done>(senderId: string, cid: string, ids?: string[]): Promise<Answer<T>>;
  /** Like `read`, and expects 200. */
  hasRead(senderId: string, cid: string, ids?: string[]): Promise<void>;
  history(cid: string): Promise<ListedMessage[]>;
  socket(uid: string, options?: ConnectOptions): Promise<Socket>;
  /** Like `socket`, with the response to `connect`. */
  connect(uid: string, options?: ConnectOptions): Promise<{ socket: Socket; response: SocketResponse }>;
  sse(uid: string, options?: { lastEventId?: string; ttlSeconds?: number }): Promise<Sse>;
  /**
   * Expects that the listeners heard nothing but what was already taken. Stronger than a ping: sends each of them a
   * system message, which the organization's order puts after everything sent before, and which must be the next event.
   */
  expectNothingElse(...listeners: (Listener & { uid: string })[]): Promise<void>;
  /** Takes as many messages as there are bodies, expects these bodies, and then nothing else. */
  expectNothingElseAfter(listener: Listener & { uid: string }, bodies: string[]): Promise<void>;
};

export async function createOrganization(herald: Herald, id: string = uniqueId("org")): Promise<Organization> {
  const path = (...segments: string[]) =>
    ["/admin/organizations", ...[id, ...segments].map(encodeURIComponent)].join("/");
  const put = async (target: string, body?: unknown) => {
    const answer = await herald.admin<unknown>("PUT", target, body);
    if (answer.status > 204) throw new Error(`PUT ${target} answered ${answer.status}: ${answer.text}`);
  };
  await put(path(), {});

  const send: Organization["send"] = (senderId, message) =>
    herald.admin("POST", "/admin/message", { organizationId: id, senderId, message });
  const sendSystem: Organization["sendSystem"] = (senderId, messageSystem) =>
    herald.admin("POST", "/admin/message/system", { organizationId: id, senderId, messageSystem });
  const read: Organization["read"] = (senderId, cid, ids) =>
    herald.admin("PUT", "/admin/message/read", { organizationId: id, senderId, messageRead: { cid, ids } });
  const edit: Organization["edit"] = (senderId, messageEdit) =>
    herald.admin("PUT", "/admin/message", { organizationId: id, senderId, messageEdit });
  const append: Organization["append"] = (senderId, messageAppend) =>
    herald.admin("PUT", "/admin/message/append", { organizationId: id, senderId, messageAppend });
  const react: Organization["react"] = (senderId, messageReaction) =>
    herald.admin("PUT", "/admin/message/reaction", { organizationId: id, senderId, messageReaction });
  const recall: Organization["recall"] = (senderId, messageDelete) =>
    herald.admin("DELETE", "/admin/message", { organizationId: id, senderId, messageDelete });
  const recallSystem: Organization["recallSystem"] = (senderId, ids) =>
    herald.admin("DELETE", "/admin/message/system", {
      organizationId: id,
      senderId,
      messageSystemDelete: { ids },
    });
  const token: Organization["token"] = async (uid, ttlSeconds) => {
    const ask = () =>
      herald.admin<Token>(
        "POST",
        path("users", uid, "tokens"),
        ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds },
      );
    let answer = await ask();
    if (answer.status === 404) {
      await put(path("users", uid), {});
      answer = await ask();
    }
    if (answer.status !== 201) throw new Error(`no token for ${uid}: ${answer.text}`);
    return answer.body.token;
  };
  const sentSystem: Organization["sentSystem"] = async (senderId, messageSystem) => {
    const answer = await sendSystem(senderId, messageSystem);
    if (answer.status !== 201) throw new Error(`the system message was refused with ${answer.status}: ${answer.text}`);
    return answer.body.ack;
  };
  const connect: Organization["connect"] = async (uid, { ttlSeconds, ...options } = {}) => {
    const payload = { token: await token(uid, ttlSeconds), ...options };
    const socket = await openSocket(herald.url, { uid });
    const response = await socket.request("connect", payload);
    if (response.success === true) return { socket, response };
    socket.terminate();
    throw new Error(`${uid} could not connect: ${JSON.stringify(response)}`);
  };
  let markSender: Promise<void> | undefined;
  const expectNothingElse: Organization["expectNothingElse"] = async (...listeners) => {
    markSender ??= put(path("users", "the marker"), {});
    await markSender;
    const mark = uniqueId("mark");
    await sentSystem("the marker", { id: mark, uids: listeners.map((listener) => listener.uid) });
    for (const listener of listeners) {
      const event = await listener.next(undefined, "the marker");
      expect(event.system_message?._id ?? event).toBe(mark);
    }
  };

  return {
    id,
    herald,
    path,
    async user(uid) {
      await put(path("users", uid), {});
      return uid;
    },
    async conversation(participants, cid = uniqueId("room")) {
      await put(path("conversations", cid), { participants });
      return cid;
    },
    join: (cid, uid) => put(path("conversations", cid, "participants", uid)),
    async leave(cid, uid) {
      const answer = await herald.admin("DELETE", path("conversations", cid, "participants", uid));
      if (answer.status !== 204) throw new Error(`${uid} could not leave: ${answer.text}`);
    },
    token,
    send,
    async sent(senderId, message) {
      const answer = await send(senderId, message);
      if (answer.status !== 201) throw new Error(`the message was refused with ${answer.status}: ${answer.text}`);
      return answer.body.ask;
    },
    sendSystem,
    sentSystem,
    read,
    async hasRead(senderId, cid, ids) {
      const answer = await read(senderId, cid, ids);
      if (answer.status !== 200) throw new Error(`the read was refused with ${answer.status}: ${answer.text}`);
    },
    edit,
    append,
    async appended(senderId, messageAppend) {
      const { status, text, body } = await append(senderId, messageAppend);
      if (status !== 200) throw new Error(`the piece was refused with ${status}: ${text}`);
      return body.length;
    },
    react,
    async reacted(senderId, mid, change) {
      const { status, text } = await react(senderId, { mid, ...change });
      if (status !== 200) throw new Error(`the reaction was refused with ${status}: ${text}`);
    },
    async edited(senderId, messageEdit) {
      const answer = await edit(senderId, messageEdit);
      if (answer.status !== 200) throw new Error(`the edit was refused with ${answer.status}: ${answer.text}`);
    },
    recall,
    async recalled(senderId, cid, ...ids) {
      const answer = await recall(senderId, { cid, ids, type: "all" });
      if (answer.status !== 200) throw new Error(`the recall was refused with ${answer.status}: ${answer.text}`);
    },
    recallSystem,
    async recalledSystem(senderId, ...ids) {
      const answer = await recallSystem(senderId, ids);
      if (answer.status !== 200) throw new Error(`the recall was refused with ${answer.status}: ${answer.text}`);
    },
    async history(cid) {
      const messages: ListedMessage[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const query: string = cursor === "" ? "?limit=1000" : `?limit=1000&cursor=${encodeURIComponent(cursor)}`;
        const answer = await herald.admin<Page<ListedMessage>>("GET", path("conversations", cid, "messages") + query);
        if (answer.status !== 200) throw new Error(`no history of ${cid}: ${answer.text}`);
        messages.push(...answer.body.items);
        cursor = answer.body.cursor;
      }
      return messages;
    },
    connect,
    socket: async (uid, options) => (await connect(uid, options)).socket,
    sse: async (uid, { lastEventId, ttlSeconds } = {}) =>
      openSse(
        herald.url,
        {
          Authorization: `Bearer ${await token(uid, ttlSeconds)}`,
          ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
        },
        uid,
      ),
    expectNothingElse,
    async expectNothingElseAfter(listener, bodies) {
      const heard: (string | undefined)[] = [];
      while (heard.length < bodies.length) heard.push((await listener.next()).message?.body);
      expect(heard).toEqual(bodies);
      await expectNothingElse(listener);
    },
  };
}

/** Reads a list to its end, page by page. `filter` is the rest of the query. */
export async function readList<T = Noun>(herald: Herald, path: string, limit = 1_000, filter?: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const given = filter === undefined ? `?limit=${limit}` : `?limit=${limit}&${filter}`;
    const query: string = cursor === "" ? given : `${given}&cursor=${encodeURIComponent(cursor)}`;
    const answer = await herald.admin<Page<T>>("GET", path + query);
    if (answer.status !== 200) throw new Error(`GET ${path}${query} answered ${answer.status}: ${answer.text}`);
    items.push(...answer.body.items);
    cursor = answer.body.cursor;
  }
  return items;
}
