import { randomUUID } from "node:crypto";
import { type Attack, type Target, tenant, tenantPath } from "../attack.ts";
import { type Call, call, put } from "../clients/calls.ts";
import { keepOpen } from "../clients/connections.ts";
import { askBySocket, socketTalk, tokensOf } from "../clients/sockets.ts";
import type { Tally } from "../clients/tally.ts";

const longBody = "x".repeat(60_000);
const { org, sender, chat, mass, members } = tenant;
const own = { organizationId: org, senderId: sender };

/** With the tenant's eleven keys in turn, or with the one that may do everything. */
const callOn = (connections: number, target: Target, tally: Tally, make: (turn: number) => Call): void =>
  call(target, tally, { connections, withAllKeys: true }, make);

const sendTo = (cid: string, body: string, lines: readonly string[] = []): Call => ({
  method: "POST",
  path: "/admin/message",
  body: { ...own, message: { id: randomUUID(), cid, body } },
  lines,
});

/** Sockets of all members, which hear what is sent. */
async function listen({ url }: Target, tally: Tally, count: number): Promise<void> {
  const tokens = await tokensOf(members);
  const tokenAt = (index: number) => tokens[index % tokens.length] ?? "";
  keepOpen({ url, tally, count, talk: (index) => socketTalk(url, tally, { token: tokenAt(index) }) });
}

/** Attacks with what changes messages, comes later, or asks what became of it. */
export const changeAttacks: readonly Attack[] = [
  {
    name: "edits",
    who: "key with `message:edit`: edits of 60,000 characters of the same hundred messages, on 200 connections",
    run: (target, tally) =>
      callOn(200, target, tally, (turn) => ({
        method: "PUT",
        path: "/admin/message",
        body: {
          ...own,
          messageEdit: { id: target.received[turn % target.received.length] ?? "", body: `${turn}${longBody}` },
        },
      })),
  },
  {
    name: "recalls",
    who: "key with `message:edit`: recalls of a hundred messages, one of which does not exist, on 200 connections",
    run: (target, tally) =>
      callOn(200, target, tally, () => ({
        method: "DELETE",
        path: "/admin/message",
        body: {
          ...own,
          messageDelete: { cid: chat, ids: [...target.received.slice(1), randomUUID()], type: "all" },
        },
      })),
  },
  {
    name: "reads",
    who: "key with `message:send`: sends, and marks of the conversation as read by 48 users, on 200 connections",
    run: (target, tally) =>
      callOn(200, target, tally, (turn) => {
        if (turn % 10 === 0) return sendTo(chat, "to be read");
        const senderId = members[turn % members.length];
        return {
          method: "PUT",
          path: "/admin/message/read",
          body: { organizationId: org, senderId, messageRead: { cid: chat } },
        };
      }),
  },
  {
    name: "schedules",
    who: "key with `message:send`: sends scheduled for the next second, on 200 connections",
    run: (target, tally) =>
      callOn(200, target, tally, () => {
        const { body: request } = sendTo(chat, "later");
        const sendAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 1_000).toISOString();
        return {
          method: "PUT",
          path: tenantPath("scheduled", randomUUID()),
          body: { send_at: sendAt, request },
        };
      }),
  },
  {
    name: "waits",
    who: "eleven keys with `message:send`, and 480 WebSockets: sends that wait for the delivery, on 400 connections",
    async run(target, tally) {
      await listen(target, tally, 480);
      setTimeout(() => callOn(400, target, tally, () => sendTo(chat, "wait for it", ["Prefer: wait=1"])), 1_000);
    },
  },
  {
    name: "recipients",
    row: 2,
    who: "key with `history:read`: who of 10,000 does not have a message, on 100 connections",
    run: (target, tally) =>
      callOn(100, target, tally, () => ({
        method: "GET",
        path: `${tenantPath("messages", target.massMessage, "recipients")}?state=delivered&limit=1000`,
      })),
  },
  {
    name: "reports",
    row: 2,
    who: "key with `history:read`: the delivery of a message to 10,000, on 200 connections",
    run: (target, tally) =>
      callOn(200, target, tally, () => ({ method: "GET", path: tenantPath("messages", target.massMessage) })),
  },
  {
    name: "webhooks",
    who: "eleven keys, one of them with `webhooks:manage`: sends to 10,000 who are away, told to 20 webhooks, on 40 connections",
    run(target, tally) {
      for (let index = 0; index < 20; index++) {
        const webhook = { url: "https://herald.invalid/", wait_seconds: 1 };
        void put(target, tally, "webhook", tenantPath("webhooks", `hook-${index}`), webhook);
      }
      setTimeout(() => callOn(40, target, tally, () => sendTo(mass, "nobody is here")), 1_000);
    },
  },
  {
    name: "acquaintances",
    row: 2,
    who: "48 user tokens: `get_users_by_ids` and `get_participants_by_cids`, on 480 WebSockets that reconnect",
    async run({ url }, tally) {
      const among = { url, tally, sockets: 240, window: 4, uids: members };
      await askBySocket({ ...among, request: { get_users_by_ids: { ids: tenant.massMembers.slice(0, 100) } } });
      await askBySocket({ ...among, request: { get_participants_by_cids: { cids: [chat, tenant.hall] } } });
    },
  },
  {
    name: "activity",
    who: "48 users: 480 WebSockets that hear of one user's activity, and 20 of that user that hang up and reconnect",
    async run({ url }, tally) {
      const [busy = ""] = members;
      const tokens = await tokensOf(members);
      const subscribe = JSON.stringify({ request: { user_last_activity_subscribe: { id: busy }, id: 1 } });
      const tokenAt = (index: number) => tokens[1 + (index % (tokens.length - 1))] ?? "";
      keepOpen({
        url,
        tally,
        count: 480,
        talk: (index) => socketTalk(url, tally, { token: tokenAt(index), first: [subscribe] }),
      });
      keepOpen({
        url,
        tally,
        count: 20,
        returnMs: 0,
        talk: () => socketTalk(url, tally, { token: tokens[0] ?? "", onUpgrade: (line) => line.leave() }),
      });
    },
  },
  {
    name: "file-addresses",
    row: 2,
    who: "48 user tokens: `get_file_urls` of a hundred files, on 480 WebSockets that reconnect",
    run: ({ url, file }, tally) =>
      askBySocket({
        url,
        tally,
        sockets: 480,
        window: 4,
        uids: members,
        request: { get_file_urls: { file_ids: [file, ...Array.from({ length: 99 }, () => randomUUID())] } },
      }),
  },
];
