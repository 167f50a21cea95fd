import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../engines/free-port.ts";

/** A line between a client and a server that a test can disturb. Disturbances affect existing and new connections. */
export type SpoiltLine = {
  readonly port: number;
  /** Breaks every connection and refuses new ones. */
  cut(): void;
  /** Silently stops forwarding, like a partition. */
  freeze(): void;
  /** Delays each chunk, and limits the bytes per second in each direction of each connection. */
  slow(delayMs: number, bytesPerSecond: number): void;
  /** Breaks every connection; new ones go to another port of this machine. */
  leadTo(port: number): void;
  /** Ends all disturbances. Data held back flows on. */
  mend(): Promise<void>;
  stop(): void;
};

/** Starts a proxy on a free port in front of a port of this machine. */
export async function startSpoiltLine(targetPort: number): Promise<SpoiltLine> {
  const port = freePort();
  const sockets = new Set<Socket>();
  let thawed = Promise.resolve();
  let thaw = () => {};
  let target = targetPort;
  let delayMs = 0;
  let bytesPerSecond = Number.POSITIVE_INFINITY;

  async function pass(): Promise<void> {
    await thawed;
    if (delayMs > 0) await Bun.sleep(delayMs);
  }

  async function pump(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from) {
      await pass();
      if (!to.write(chunk)) await once(to, "drain");
      const bytes = (chunk as Buffer).length; // the stream is not in object mode
      if (Number.isFinite(bytesPerSecond)) await Bun.sleep((bytes / bytesPerSecond) * 1000);
    }
    await thawed;
    to.end();
  }

  async function join(client: Socket): Promise<void> {
    client.on("error", () => undefined);
    await pass();
    const server = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on("error", () => undefined);
      from.on("close", () => sockets.delete(from));
      sockets.add(from);
      // A connection broken on one side is broken on the other, but not through a frozen line.
      pump(from, to).catch(() => thawed.then(() => to.destroy()));
    }
  }

  const listener = createServer({ pauseOnConnect: true }, (client) => void join(client));
  async function listen(): Promise<void> {
    listener.listen(port, "127.0.0.1");
    await once(listener, "listening");
  }
  await listen();

  function breakAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  function letFlow(): void {
    delayMs = 0;
    bytesPerSecond = Number.POSITIVE_INFINITY;
    thaw();
  }

  return {
    port,
    cut() {
      listener.close();
      breakAll();
    },
    freeze() {
      thawed = new Promise((resolve) => {
        thaw = resolve;
      });
    },
    slow(milliseconds, rate) {
      delayMs = milliseconds;
      bytesPerSecond = rate;
    },
    leadTo(to) {
      target = to;
      breakAll();
    },
    async mend() {
      letFlow();
      if (!listener.listening) await listen();
    },
    stop() {
      listener.close();
      letFlow();
      breakAll();
    },
  };
}
