import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { get } from "../../bench/harness/clients/handshake.ts";
import { memoryOf, peakMemoryOf } from "../../bench/harness/meter.ts";
import { eventually } from "../harness/deadline.ts";
import { type Herald, useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const mebibyte = 2 ** 20;
const limits = { connection: mebibyte, node: 32 * mebibyte };
const herald = useHerald({
  oneNode: "memory is a node's own",
  env: {
    HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: String(limits.connection),
    HERALD_LIMIT_NODE_BACKLOG_BYTES: String(limits.node),
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0", // the same key makes all unread requests, and sends
    HERALD_LIMIT_PING_SECONDS: "2",
    HERALD_LIMIT_PONG_SECONDS: "2",
  },
});

const established = "01";
const users = 10;
const streamsOfUser = 8;
const messages = 300;
const body = "x".repeat(60_000);
/** What Bun may use besides what is held for connections. */
const runtimeBytes = 192 * mebibyte;

/** Opens a connection, sends a request, and reads nothing. */
function openUnread({ url }: Herald, head: (host: string) => string): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write(head(host)));
  socket.pause();
  socket.on("error", () => undefined);
  return socket;
}

type End = { local: string; remote: string; state: string; received: number };

/**
 * Both ends of every IPv4 TCP connection of this machine: the last digits of ports in hexadecimal, and the unread bytes
 * (proc_net_tcp(5)).
 */
function readEnds(): End[] {
  const lines = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return lines.map((line) => {
    const [, local = "", remote = "", state = "", queues = ""] = line.trim().split(/\s+/);
    const received = Number.parseInt(queues.split(":")[1] ?? "", 16);
    return { local: local.slice(-4), remote: remote.slice(-4), state, received };
  });
}

const portsOf = (sockets: readonly Socket[]) => new Set(sockets.map(({ localPort = 0 }) => hexOf(localPort)));

/** Whether none of these waits for an answer: each has one that it does not read, or has been cut for that already. */
function areAnswered(sockets: readonly Socket[]): boolean {
  const ours = portsOf(sockets);
  const waits = ({ local, state, received }: End) => ours.has(local) && state === established && received === 0;
  return sockets.every(({ connecting }) => !connecting) && !readEnds().some(waits);
}

/** Whether the server has ended all of these. */
function areCut({ url }: Herald, sockets: readonly Socket[]): boolean {
  const ours = portsOf(sockets);
  const server = hexOf(Number(new URL(url).port));
  return !readEnds().some(({ local, remote, state }) => local === server && ours.has(remote) && state === established);
}

const hexOf = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");

async function setUp() {
  const org = await createOrganization(herald());
  const uids = Array.from({ length: users }, (_, index) => `user-${index}`);
  const cid = await org.conversation(uids);
  const quiet = await org.conversation(["victim"]);
  const first = await org.sent("user-0", { cid, body: "the last that was seen" });
  for (let count = 0; count < messages; count++) await org.sent("user-0", { cid, body });
  return { org, cid, quiet, uids, since: first.server_mid };
}

/** The maximum growth of the node's memory, while others send, until all of these have been answered. */
async function growthOf(
  open: () => Socket[],
  send: () => Promise<unknown>,
): Promise<{ unread: Socket[]; grown: number }> {
  const before = memoryOf(herald().pid);
  const unread = open();
  for (let count = 0; count < 50; count++) await send();
  await eventually(() => areAnswered(unread) || undefined, "an answer to everyone", 40_000);
  for (let count = 0; count < 10; count++) await send();
  return { unread, grown: (peakMemoryOf(herald().pid) - before) / mebibyte };
}

const allowed = (limits.node + runtimeBytes) / mebibyte;

describe("clients that request much and read nothing (row 3)", () => {
  test("cost no more memory than the node may hold, and are cut: streams with `Last-Event-ID`", async () => {
    const { org, quiet, uids, since } = await setUp();
    const tokens = await Promise.all(uids.map((uid) => org.token(uid)));
    const open = () =>
      Array.from({ length: users * streamsOfUser }, (_, index) => {
        const lines = [`Authorization: Bearer ${tokens[index % users]}`, `Last-Event-ID: ${since}`];
        return openUnread(herald(), (host) => get(host, "/sse", lines));
      });
    const { unread, grown } = await growthOf(open, () => org.sent("victim", { cid: quiet, body: "meanwhile" }));
    expect(grown).toBeLessThan(allowed);
    await eventually(() => areCut(herald(), unread) || undefined, "the end of all who do not read", 40_000);
    for (const socket of unread) socket.destroy();
  });

  test("cost no more memory than the node may hold: pages of history", async () => {
    const { org, cid, quiet } = await setUp();
    const path = `${org.path("conversations", cid, "messages")}?limit=1000`;
    const lines = [`Admin-Api-Key: ${herald().key}`];
    const open = () =>
      Array.from({ length: users * streamsOfUser }, () => openUnread(herald(), (host) => get(host, path, lines)));
    const { unread, grown } = await growthOf(open, () => org.sent("victim", { cid: quiet, body: "meanwhile" }));
    for (const socket of unread) socket.destroy();
    expect(grown).toBeLessThan(allowed);
  });
});
