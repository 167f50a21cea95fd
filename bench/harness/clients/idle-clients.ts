import { SignJWT } from "jose";
import { tokenSecret } from "../herald.ts";
import type { Peer } from "../servers.ts";
import { get, handshake, headEnd, maskedFrame, maskedPong } from "./handshake.ts";

/** Open connections that send nothing but pongs. */
export type IdleClients = {
  readonly size: number;
  /** Pings received and answered. */
  pings(): number;
  /** Bytes of anything else received since the last connection joined. */
  bytes(): number;
  /** Resolves once all connections are closed. */
  close(): Promise<void>;
};

/** The user of a connection. */
export type Person = { org: string; uid: string };

const atOnce = 100;
const hello = maskedFrame(JSON.stringify({ request: { ping: {}, id: 1 } }));
const pingFrame = Buffer.from([0x89, 0]);
const secret = new TextEncoder().encode(tokenSecret);

/** Opens a WebSocket or a stream for each person. Resolves once all of them have joined. */
export async function openIdleClients(
  peer: Pick<Peer, "url">,
  people: readonly Person[],
  kind: "socket" | "stream",
): Promise<IdleClients> {
  const { host, hostname, port } = new URL(peer.url);
  const isSocket = kind === "socket";
  const sockets: { end(): void }[] = [];
  const ended: Promise<void>[] = [];
  let isClosed = false;
  let pings = 0;
  let bytes = 0;

  async function open({ org, uid }: Person): Promise<void> {
    const token = await tokenOf(org, uid);
    const lines = [`Authorization: Bearer ${token}`];
    const { promise: hasJoined, resolve: join, reject: refuse } = Promise.withResolvers<void>();
    const { promise: end, resolve: finish } = Promise.withResolvers<void>();
    let head = "";
    let isUpgraded = false;
    let isJoined = false;

    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data(self, chunk) {
          if (isJoined) {
            if (!chunk.subarray(0, pingFrame.length).equals(pingFrame)) {
              bytes += chunk.length;
              return;
            }
            pings++;
            self.write(maskedPong);
            return;
          }
          head += chunk.toString("latin1");
          if (!head.includes(headEnd)) return;
          if (!head.startsWith(isSocket ? "HTTP/1.1 101" : "HTTP/1.1 200")) refuse(new Error(`refused:\n${head}`));
          if (isSocket && !isUpgraded) {
            isUpgraded = true;
            self.write(hello); // answered after the socket has joined
            return;
          }
          isJoined = true;
          join();
        },
        close() {
          finish();
          if (!isClosed) throw new Error(`${peer.url} closed an idle connection`);
        },
      },
    });
    sockets.push(socket);
    ended.push(end);
    socket.write(isSocket ? handshake(host, "/ws", lines) : get(host, "/sse", lines));
    await hasJoined;
  }

  for (let from = 0; from < people.length; from += atOnce)
    await Promise.all(people.slice(from, from + atOnce).map(open));

  return {
    size: people.length,
    pings: () => pings,
    bytes: () => bytes,
    async close() {
      isClosed = true;
      for (const socket of sockets) socket.end();
      await Promise.all(ended);
    },
  };
}

/** Signs a token here, so that the server does no work for it. */
export function tokenOf(org: string, uid: string): Promise<string> {
  return new SignJWT({ org })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(uid)
    .setAudience("herald")
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(secret);
}
