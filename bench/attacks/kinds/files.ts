import { get, headEnd } from "../../harness/clients/handshake.ts";
import { type Attack, stallMs, type Target, tenant, tenantPath } from "../attack.ts";
import { keepOpen } from "../clients/connections.ts";
import { askWithoutEnd, requestOf, statusOf } from "../clients/pipeline.ts";
import { tokensOf } from "../clients/sockets.ts";
import type { Tally } from "../clients/tally.ts";

const uploadBytes = 4 * 1_048_576;
const longUpload = "x".repeat(uploadBytes);

/** Uploads files of one size, each as fast as the server takes it. */
function upload({ url, key }: Target, tally: Tally, connections: number, body: string): void {
  const request = requestOf(url, "POST", `${tenantPath("files")}?name=upload`, { key, body });
  askWithoutEnd({ url, tally, connections, window: 1, request: () => request });
}

type Downloading = {
  target: Target;
  tally: Tally;
  connections: number;
  readsNothing?: boolean;
  hasKey?: boolean;
  lines?: readonly string[];
};

const firstByte = ["Range: bytes=0-0"];

/** Downloads one file with the token of one user or a key, again and again. The unread read no more than that it has begun. */
async function download(downloading: Downloading): Promise<void> {
  const { target, tally, connections, readsNothing = false, hasKey = false, lines = [] } = downloading;
  const { url, key, file } = target;
  const [token] = await tokensOf(tenant.members.slice(0, 1));
  const credential = hasKey ? `Admin-Api-Key: ${key}` : `Authorization: Bearer ${token}`;
  const hello = get(new URL(url).host, `/files/${file}`, [credential, ...lines]);
  keepOpen({
    url,
    tally,
    count: connections,
    talk() {
      let head: Buffer = Buffer.alloc(0);
      let missing: number | undefined; // bytes of the body, once the head is complete
      const begin = (chunk: Buffer): number | undefined => {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf(headEnd);
        if (end === -1) return undefined;
        const status = statusOf(head);
        if (status !== undefined) tally.count(`HTTP ${status}`);
        const [, length = "0"] = /content-length: (\d+)/i.exec(head.toString("latin1", 0, end)) ?? [];
        const begun = head.length - end - headEnd.length;
        head = Buffer.alloc(0);
        return Number(length) - begun;
      };
      return {
        hello,
        hear(chunk, line) {
          tally.count("bytes read", chunk.length);
          missing = missing === undefined ? begin(chunk) : missing - chunk.length;
          if (readsNothing) return line.pause();
          if (missing === undefined || missing > 0) return;
          missing = undefined;
          line.write(hello);
        },
      };
    },
  });
}

/** Attacks with files. */
export const fileAttacks: readonly Attack[] = [
  {
    name: "uploads",
    who: "key with `files:write`: uploads of 4 MiB on 20 connections",
    run: (target, tally) => upload(target, tally, 20, longUpload),
  },
  {
    name: "short-uploads",
    who: "key with `files:write`: uploads of a hundred bytes on 200 connections",
    run: (target, tally) => upload(target, tally, 200, "x".repeat(100)),
  },
  {
    name: "downloads",
    row: 2,
    mustBeTold: true,
    who: "one user token: downloads of a file of 32 MiB on 20 connections",
    run: (target, tally) => download({ target, tally, connections: 20 }),
  },
  {
    name: "short-downloads",
    row: 2,
    mustBeTold: true,
    who: "one user token: one byte of a file, as fast as it is answered, on 400 connections",
    run: (target, tally) => download({ target, tally, connections: 400, lines: firstByte }),
  },
  {
    name: "key-downloads",
    row: 2,
    who: "key with `history:read`: one byte of a file, as fast as it is answered, on 400 connections",
    run: (target, tally) => download({ target, tally, connections: 400, hasKey: true, lines: firstByte }),
  },
  {
    name: "unread-downloads",
    row: 3,
    leastMs: stallMs,
    who: "one user token: downloads of a file of 32 MiB on 900 connections that do not read",
    run: (target, tally) => download({ target, tally, connections: 900, readsNothing: true }),
  },
];
