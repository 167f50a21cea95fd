import { readFileSync } from "node:fs";
import type { Peer } from "../servers.ts";
import { get, handshake, headEnd } from "./handshake.ts";
import { type Person, tokenOf } from "./idle-clients.ts";

/** A connection that can stop reading. It answers no pings. */
export type Reader = {
  pause(): void;
  /** Bytes that the kernel holds for it, on both sides. */
  heldByKernel(): number;
  close(): void;
};

/** Opens a WebSocket or a stream and reads what arrives. Resolves once accepted. */
export async function openReader(
  { url }: Pick<Peer, "url">,
  { org, uid }: Person,
  kind: "socket" | "stream",
): Promise<Reader> {
  const { host, hostname, port } = new URL(url);
  const lines = [`Authorization: Bearer ${await tokenOf(org, uid)}`];
  const { promise: isOpen, resolve: accept } = Promise.withResolvers<void>();
  let head = "";
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, chunk) {
        if (head.includes(headEnd)) return;
        head += chunk.toString("latin1");
        if (head.includes(headEnd)) accept();
      },
    },
  });
  socket.write(kind === "socket" ? handshake(host, "/ws", lines) : get(host, "/sse", lines));
  await isOpen;
  return {
    pause: () => void socket.pause(),
    heldByKernel: () => heldBetween(Number(port), socket.localPort),
    close: () => void socket.end(),
  };
}

/** Bytes queued between two ports of this machine: unsent, or received but unread (proc_net_tcp(5)). */
function heldBetween(first: number, second: number): number {
  const ports = new Set([`${hexOf(first)} ${hexOf(second)}`, `${hexOf(second)} ${hexOf(first)}`]);
  let held = 0;
  for (const line of ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) => readFileSync(file, "utf8").split("\n"))) {
    const [, local = "", remote = "", , queues = ""] = line.trim().split(/\s+/);
    if (!ports.has(`${local.slice(-4)} ${remote.slice(-4)}`)) continue;
    for (const queue of queues.split(":")) held += Number.parseInt(queue, 16);
  }
  return held;
}

function hexOf(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}
