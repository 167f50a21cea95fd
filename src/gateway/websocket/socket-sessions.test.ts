import { expect, test } from "bun:test";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { SessionEnd } from "../../contract/log/control-events.ts";
import { createOwner } from "../../lib/owner.ts";
import type { Session } from "../../services/sessions/sessions.ts";
import { endsSession } from "../fanout/event-facts.ts";
import { readFrame } from "./frames.ts";
import { createSocketState, SocketLine, type SocketState } from "./socket.ts";
import { createSocketSessions } from "./socket-sessions.ts";

const unused = () => {
  throw new Error("not used here");
};

/**
 * Runs a server whose sessions are opened by `open`, which gets the socket's state; returns the code that the client is
 * closed with.
 */
async function codeAfter(tokens: string[], open: (token: string, state: SocketState | undefined) => Session) {
  let state: SocketState | undefined;
  const sessions = createSocketSessions({
    admission: {
      enter: unused,
      admit: async (_owner, token) => open(token, state),
      renew: async (_owner, token) => open(token, state),
      requireBudget: unused,
    },
    joiner: { join: async (_connection, _session, _since, admit) => admit(undefined) },
    handle: unused,
    inboxes: { countUnread: unused },
    budgets: { require: () => undefined, charge: () => undefined },
    clock: { now: () => 0 },
    onError: unused,
  });
  await using server = Bun.serve<SocketState>({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, running) {
      state = createSocketState(
        {
          id: "1",
          address: "",
          client: undefined,
          publicOrigin: undefined,
          since: 0,
          owner: createOwner(unused),
          opening: undefined,
        },
        0,
      );
      return running.upgrade(request, { data: state }) ? undefined : new Response(null, { status: 400 });
    },
    websocket: {
      open(socket) {
        socket.data.line = new SocketLine(socket, { onWaiting: unused, socketTopics: { add: unused, remove: unused } });
      },
      async message(socket, text) {
        if (socket.data.line !== undefined)
          await sessions.answer(socket, socket.data.line, readFrame(String(text), 32));
      },
      close: ({ data }) => data.owner.close(),
    },
  });
  const client = new WebSocket(`ws://127.0.0.1:${server.port}`);
  const closed = Promise.withResolvers<number>();
  const left = [...tokens];
  const next = () => {
    const token = left.shift();
    if (token === undefined) client.close(1000);
    else client.send(JSON.stringify({ request: { connect: { token }, id: token } }));
  };
  client.onopen = next;
  client.onmessage = next;
  client.onclose = ({ code }) => closed.resolve(code);
  return await closed.promise;
}

const sessionOf = (tokenId: string): Session => ({
  org: "o",
  uid: "u",
  issuedAt: 0,
  expiresAt: 60_000,
  tokenId,
  head: 1,
  headId: "e1",
  cids: [],
  hasInboxes: false,
});

test("a token that is revoked while it takes over a session does not hold the connection open", async () => {
  const end: SessionEnd = { uids: ["u"], issuedBefore: -1, token: "t2" };
  let looked = 0;
  const code = await codeAfter(["t1", "t2"], (token, state) => {
    if (token === "t2" && ++looked === 2) throw new HeraldError("unauthorized");
    // The snapshot of t2 was read before its end was committed; now the end is played while t1 still holds the
    // connection.
    const connection = state?.user?.connection;
    if (connection !== undefined && endsSession(end, connection)) connection.end("removed");
    return sessionOf(token);
  });
  expect(code).toBe(4401);
});

test("a token that was not revoked takes over a session", async () => {
  expect(await codeAfter(["t1", "t2"], sessionOf)).toBe(1000);
});
