import { randomUUID } from "node:crypto";
import { get } from "../../harness/clients/handshake.ts";
import { benchOrg } from "../../harness/organization.ts";
import { type Attack, type Target, tenant, tenantPath } from "../attack.ts";
import { type Call, call, put } from "../clients/calls.ts";
import { elsewhere, keepOpen } from "../clients/connections.ts";
import { createAnswerScanner, requestOf, statusOf } from "../clients/pipeline.ts";
import { socketTalk, tokensOf } from "../clients/sockets.ts";
import type { Tally } from "../clients/tally.ts";

const mebibyte = 1_048_576;
const mostParticipants = 100_000;
const { sender } = tenant;

const send = (body: string, id: string = randomUUID()): Call => ({
  method: "POST",
  path: "/admin/message",
  body: { organizationId: tenant.org, senderId: sender, message: { id, cid: tenant.chat, body } },
});

const systemSend = (query = ""): Call => ({
  method: "POST",
  path: `/admin/message/system${query}`,
  body: { organizationId: tenant.org, senderId: sender, messageSystem: { id: randomUUID(), uids: tenant.massMembers } },
});

const everyoneSend = (): Call => ({
  method: "POST",
  path: "/admin/message/system",
  body: { organizationId: tenant.org, senderId: sender, messageSystem: { id: randomUUID(), everyone: true } },
});

const sendWithAllKeys = (target: Target, tally: Tally): void =>
  call(target, tally, { connections: 700, withAllKeys: true }, () => send("eleven keys"));

/** Short ids, so that a conversation's maximum number fits into a request. */
function participants(prefix: string, count: number): string {
  const uids = Array.from({ length: count }, (_, index) => `${prefix}${index.toString(36)}`);
  return JSON.stringify({ participants: [sender, ...uids.slice(1)] });
}

const wide = { connections: 200 };

/** Attacks with an API key of one organization: everything it may do, as often as possible. */
export const keyAttacks: readonly Attack[] = [
  {
    name: "filtered-feeds",
    row: 4,
    mustBeTold: true,
    who: "key with `observe` and `directory:write`: 900 feeds with `?uid=`, and PUTs of 734 kB of participants",
    run(target, tally) {
      const { url, key } = target;
      const { host } = new URL(url);
      keepOpen({
        url,
        tally,
        count: 900,
        talk(index) {
          const scan = createAnswerScanner((status) => tally.count(`feed HTTP ${status}`));
          return {
            hello: get(host, `${tenantPath("events")}?uid=member-${index}`, [`Admin-Api-Key: ${key}`]),
            hear: (chunk) => scan(chunk),
          };
        },
      });
      const bodies = ["a", "b"].map((prefix) => participants(prefix, 90_000));
      setTimeout(
        () =>
          call(target, tally, { connections: 1 }, (turn) => ({
            method: "PUT",
            path: tenantPath("conversations", "filtered"),
            body: bodies[turn % 2] ?? "",
          })),
        1_000, // once most of the feeds are open
      );
    },
  },
  {
    name: "directory",
    row: 5,
    mustBeTold: true,
    who: "key with `directory:write`: PUTs of 100,000 participants on 40 connections",
    run(target, tally) {
      const bodies = ["a", "b", "c", "d"].map((prefix) => participants(prefix, mostParticipants));
      call(target, tally, { connections: 40 }, (turn) => ({
        method: "PUT",
        path: tenantPath("conversations", `large-${turn % 40}`),
        body: bodies[Math.floor(turn / 40) % bodies.length] ?? "",
      }));
    },
  },
  {
    name: "directory-deletes",
    row: 5,
    who: "key with `directory:write`: creates and deletes conversations of 10,000, on 16 connections",
    run: (target, tally) =>
      call(target, tally, { connections: 16 }, (turn) => {
        const nameOf = (made: number) => tenantPath("conversations", `churn-${made}`);
        return turn % 2 === 0
          ? { method: "PUT", path: nameOf(turn), body: { participants: tenant.massMembers } }
          : { method: "DELETE", path: nameOf(turn - 33) }; // created by now
      }),
  },
  {
    name: "joins",
    row: 5,
    who: "key with `directory:write`: adds users to a conversation of 10,000 and removes them, on 200 connections",
    run: (target, tally) =>
      call(target, tally, wide, (turn) => ({
        method: turn % 2 === 0 ? "DELETE" : "PUT",
        path: tenantPath("conversations", tenant.mass, "participants", `mass-member-${turn % 10_000}`),
      })),
  },
  {
    name: "many-keys",
    row: 8,
    who: "key with `keys:manage`: sends with eleven keys, on 700 connections",
    run: sendWithAllKeys,
  },
  {
    name: "many-keys-limited",
    row: 8,
    mustBeTold: true,
    who: "key with `keys:manage` of an organization limited to 1,000 requests a second: sends with eleven keys",
    async run(target, tally) {
      const operator = { url: target.url, key: benchOrg.key };
      await put(operator, tally, "limit", tenantPath(), { limits: { requests_per_second: 1_000 } });
      sendWithAllKeys(target, tally);
    },
  },
  {
    name: "burst",
    row: 5,
    who: "key with `message:send`: 1,000 sends waiting at any time",
    run: (target, tally) => call(target, tally, { connections: 1_000 }, () => send("one of a thousand")),
  },
  {
    name: "long-sends",
    row: 5,
    who: "key with `message:send`: sends of 60,000 characters, 400 waiting at any time",
    run(target, tally) {
      const body = "x".repeat(60_000);
      call(target, tally, { connections: 400 }, () => send(body));
    },
  },
  {
    name: "one-id",
    who: "key with `message:send`: the same id again and again, on 400 connections",
    run: (target, tally) => call(target, tally, { connections: 400 }, () => send("again", `again-${target.run}`)),
  },
  {
    name: "system-sends",
    who: "key with `system:send`: system messages to 10,000 users, on 40 connections",
    run: (target, tally) => call(target, tally, { connections: 40 }, () => systemSend()),
  },
  {
    name: "everyone",
    who: "key with `system:send`, and 960 WebSockets of 48 users: system messages to everyone, on 40 connections",
    async run(target, tally) {
      const { url } = target;
      const tokens = await tokensOf(tenant.members);
      const tokenOf = (index: number) => tokens[index % tokens.length] ?? "";
      keepOpen({ url, tally, count: 960, talk: (index) => socketTalk(url, tally, { token: tokenOf(index) }) });
      setTimeout(
        () => call(target, tally, { connections: 40 }, everyoneSend),
        1_000, // once most of the sockets are open
      );
    },
  },
  {
    name: "dry-runs",
    who: "key with `system:send`: dry runs for 10,000 users, on 40 connections",
    run: (target, tally) => call(target, tally, { connections: 40 }, () => systemSend("?dry_run=true")),
  },
  {
    name: "history",
    row: 2,
    who: "key with `history:read`: pages of 1,000 messages of 60 kB, on 20 connections",
    run: (target, tally) =>
      call(target, tally, { connections: 20 }, () => ({
        method: "GET",
        path: `${tenantPath("conversations", tenant.hall, "messages")}?limit=1000`,
      })),
  },
  {
    name: "unread-history",
    row: 3,
    who: "key with `history:read`: pages of 1,000 messages of 60 kB, on 200 connections that do not read",
    run({ url, key }, tally) {
      const path = `${tenantPath("conversations", tenant.hall, "messages")}?limit=1000`;
      keepOpen({
        url,
        tally,
        count: 200,
        talk: () => ({ hello: requestOf(url, "GET", path, { key }), readsNothing: true }),
      });
    },
  },
  {
    name: "users-lists",
    row: 2,
    who: "key with `directory:read`: pages of 1,000 users, on 200 connections",
    run: (target, tally) =>
      call(target, tally, wide, () => ({ method: "GET", path: `${tenantPath("users")}?limit=1000` })),
  },
  {
    name: "audit",
    row: 2,
    who: "key with every scope: pages of 1,000 entries of the audit log, on 200 connections",
    run: (target, tally) =>
      call(target, tally, wide, () => ({ method: "GET", path: `/admin/audit?organization=${tenant.org}&limit=1000` })),
  },
  {
    name: "presence",
    who: "key with `observe`: which of 1,000 users are online, on 200 connections",
    run: (target, tally) =>
      call(target, tally, wide, () => ({ method: "GET", path: `${tenantPath("online")}?limit=1000&devices=true` })),
  },
  {
    name: "feed-churn",
    row: 4,
    who: "key with `observe`: opens feeds and leaves them, on 100 connections",
    run({ url, key }, tally) {
      const hello = get(new URL(url).host, tenantPath("events"), [`Admin-Api-Key: ${key}`]);
      keepOpen({
        url,
        tally,
        count: 100,
        from: elsewhere,
        returnMs: 0,
        talk: () => ({
          hello,
          hear(chunk, line) {
            const status = statusOf(chunk);
            if (status === undefined) return;
            tally.count(`HTTP ${status}`);
            line.leave();
          },
        }),
      });
    },
  },
  {
    name: "keys-churn",
    row: 8,
    who: "key with `keys:manage`: creates keys, on 200 connections",
    run: (target, tally) =>
      call(target, tally, wide, (turn) => ({
        method: "POST",
        path: "/admin/keys",
        body: { name: `${turn}`, scopes: ["message:send"], organization: tenant.org },
      })),
  },
  {
    name: "deep-json",
    who: "key with `message:send`: bodies of 1 MiB that are nested too deeply, on 20 connections",
    run(target, tally) {
      const body = `{"a":${"[".repeat(mebibyte - 10)}`;
      call(target, tally, { connections: 20 }, () => ({ method: "POST", path: "/admin/message", body }));
    },
  },
  {
    name: "refused-bodies",
    who: "key with `message:send`: bodies of 1 MiB with an error at the end, on 20 connections",
    run(target, tally) {
      const members = Array.from({ length: 70_000 }, (_, index) => `"m${index.toString(36)}":{}`).join(",");
      const body = `{"organizationId":"attacker","senderId":"sender","message":{"cid":"chat","body":"x","x":{${members}}}}`;
      call(target, tally, { connections: 20 }, () => ({ method: "POST", path: "/admin/message", body }));
    },
  },
];
