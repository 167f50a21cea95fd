import { get, headEnd } from "../../harness/clients/handshake.ts";
import { type Attack, stallMs, type Target, tenant } from "../attack.ts";
import { keepOpen } from "../clients/connections.ts";
import { createAnswerScanner } from "../clients/pipeline.ts";
import { askBySocket, socketTalk, tokensOf } from "../clients/sockets.ts";
import type { Tally } from "../clients/tally.ts";

const ofUser = 20; // connections that one user may have
const one = tenant.members.slice(0, 1);

type Returning = { target: Target; tally: Tally; uids: readonly string[]; connections: number };

/** Opens sockets that ask for what they missed, and hang up once they have it. */
async function replayBySocket({ target: { url, since }, tally, uids, connections }: Returning): Promise<void> {
  const tokens = await tokensOf(uids);
  keepOpen({
    url,
    tally,
    count: connections,
    returnMs: 0,
    talk(index) {
      const token = tokens[index % tokens.length];
      const connect = JSON.stringify({ request: { connect: { token, since }, id: 1 } });
      return socketTalk(url, tally, {
        first: [connect],
        answer(text, line) {
          if (text.includes('"connection_id"')) line.leave(); // the replay has begun
          return undefined;
        },
      });
    },
  });
}

/** Opens streams that ask for what they missed. */
async function replayByStream({ target, tally, uids, connections }: Returning, readsNothing: boolean): Promise<void> {
  const { url, since } = target;
  const tokens = await tokensOf(uids);
  keepOpen({
    url,
    tally,
    count: connections,
    returnMs: readsNothing ? 20 : 0,
    talk(index) {
      const lines = [`Authorization: Bearer ${tokens[index % tokens.length]}`, `Last-Event-ID: ${since}`];
      const scan = createAnswerScanner((status) => tally.count(`HTTP ${status}`));
      return {
        hello: get(new URL(url).host, "/sse", lines),
        hear(chunk, line) {
          scan(chunk);
          if (readsNothing) line.pause();
          else if (chunk.includes(headEnd)) line.leave();
        },
      };
    },
  });
}

/** Attacks with a user token. */
export const userAttacks: readonly Attack[] = [
  {
    name: "lists",
    row: 2,
    mustBeTold: true,
    who: "one user token: `message_list` as fast as it is answered, on 20 WebSockets that reconnect",
    run: ({ url }, tally) =>
      askBySocket({
        url,
        tally,
        sockets: ofUser,
        window: 4,
        uids: one,
        request: { message_list: { cid: tenant.chat, limit: 100 } },
      }),
  },
  {
    name: "long-lists",
    row: 2,
    who: "one user token: `message_list` with pages of 6 MB, on 20 WebSockets that reconnect",
    run: ({ url }, tally) =>
      askBySocket({
        url,
        tally,
        sockets: ofUser,
        window: 1,
        uids: one,
        request: { message_list: { cid: tenant.hall, limit: 100 } },
      }),
  },
  {
    name: "conversation-lists",
    row: 2,
    who: "48 user tokens: `conversation_list` as fast as it is answered, on 480 WebSockets that reconnect",
    run: ({ url }, tally) =>
      askBySocket({
        url,
        tally,
        sockets: 480,
        window: 4,
        uids: tenant.members,
        request: { conversation_list: { limit: 100 } },
      }),
  },
  {
    name: "bad-requests",
    row: 2,
    who: "one user token: refused requests as fast as they are answered, on 20 WebSockets that reconnect",
    run: ({ url }, tally) =>
      askBySocket({ url, tally, sockets: ofUser, window: 8, uids: one, request: { message_list: { cid: "nowhere" } } }),
  },
  {
    name: "since",
    row: 2,
    mustBeTold: true,
    who: "one user token: `connect` with `since` 1,000 messages of 60 kB back, on 20 WebSockets that hang up and reconnect",
    run: (target, tally) => replayBySocket({ target, tally, uids: one, connections: ofUser }),
  },
  {
    name: "resume",
    row: 2,
    mustBeTold: true,
    who: "one user token: `Last-Event-ID` 1,000 messages of 60 kB back, on 20 streams that hang up and reconnect",
    run: (target, tally) => replayByStream({ target, tally, uids: one, connections: ofUser }, false),
  },
  {
    name: "unread-streams", // the kernel may take all that they are given in this time
    row: 3,
    leastMs: stallMs,
    who: "48 users of one tenant: 960 streams that ask for 1,000 missed messages of 60 kB and do not read",
    run: (target, tally) => replayByStream({ target, tally, uids: tenant.members, connections: 960 }, true),
  },
  {
    name: "unread-sockets",
    row: 3,
    mustBeTold: true,
    leastMs: stallMs,
    who: "48 users of one tenant: 960 WebSockets that ask for 1,000 missed messages of 60 kB and do not read",
    async run({ url, since }, tally) {
      const tokens = await tokensOf(tenant.members);
      keepOpen({
        url,
        tally,
        count: 960,
        talk(index) {
          const connect = { connect: { token: tokens[index % tokens.length], since }, id: 1 };
          return socketTalk(url, tally, { first: [JSON.stringify({ request: connect })], readsNothing: true });
        },
      });
    },
  },
  {
    name: "unread-lists",
    row: 3,
    mustBeTold: true,
    leastMs: stallMs,
    who: "48 users of one tenant: 960 WebSockets that ask for 100 pages of 6 MB and do not read",
    async run({ url }, tally) {
      const tokens = await tokensOf(tenant.members);
      const list = JSON.stringify({ request: { message_list: { cid: tenant.hall, limit: 100 }, id: 1 } });
      const first = Array.from({ length: 100 }, () => list);
      keepOpen({
        url,
        tally,
        count: 960,
        talk: (index) =>
          socketTalk(url, tally, { token: tokens[index % tokens.length] ?? "", first, readsNothing: true }),
      });
    },
  },
  {
    name: "acks",
    row: 7,
    mustBeTold: true,
    who: "one user token: `ack` of the same 100 ids again and again, on 20 WebSockets that reconnect",
    run: ({ url, received }, tally) =>
      askBySocket({ url, tally, sockets: ofUser, window: 4, uids: one, request: { ack: { ids: received } } }),
  },
  {
    name: "newcomers",
    row: 2,
    who: "1,000 users of one tenant, created as they connect: they hang up and reconnect, on 900 WebSockets",
    async run({ url, run }, tally) {
      const tokens = await tokensOf(Array.from({ length: 1_000 }, (_, index) => `new-${run}-${index}`));
      let turn = 0;
      keepOpen({
        url,
        tally,
        count: 900,
        from: ["127.0.0.2", "127.0.0.3", "127.0.0.4"], // one address runs out of ports
        talk() {
          const connect = { connect: { token: tokens[turn++ % tokens.length] }, id: 1 };
          return socketTalk(url, tally, {
            first: [JSON.stringify({ request: connect })],
            answer(_, line) {
              line.leave();
              return undefined;
            },
          });
        },
      });
    },
  },
];
