import { get } from "../../harness/crowds/handshake.ts";
import { keepOpen, type Line } from "../attack/lines.ts";
import { askWithoutEnd, createAnswerScanner, requestOf, statusOf } from "../attack/pipeline.ts";
import { tokensOf } from "../attack/sockets.ts";
import type { Tally } from "../attack/tally.ts";
import { type Camp, type Raid, stallMs, tenant, tenantPath } from "../camp.ts";

const uploadBytes = 4 * 1_048_576;
const longUpload = "x".repeat(uploadBytes);

/** Uploads files of one size, each as fast as the server takes it. */
function upload({ url, key }: Camp, tally: Tally, connections: number, body: string): void {
  const request = requestOf(url, "POST", `${tenantPath("files")}?name=upload`, { key, body });
  askWithoutEnd({ url, tally, connections, window: 1, request: () => request });
}

type Downloading = { camp: Camp; tally: Tally; connections: number; isDeaf?: boolean; lines?: readonly string[] };

/** Downloads one file with the tokens of one user, again and again. The deaf read no more than that it has begun. */
async function download({ camp, tally, connections, isDeaf = false, lines = [] }: Downloading): Promise<void> {
  const { url, file } = camp;
  const [token] = await tokensOf(tenant.members.slice(0, 1));
  const hello = get(new URL(url).host, `/files/${file}`, [`Authorization: Bearer ${token}`, ...lines]);
  keepOpen({
    url,
    tally,
    count: connections,
    talk() {
      const scan = createAnswerScanner((status) => tally.count(`HTTP ${status}`));
      let length = Number.POSITIVE_INFINITY;
      let read = 0;
      const ask = (line: Line) => {
        read = 0;
        line.write(hello);
      };
      return {
        hello,
        hear(chunk, line) {
          if (read === 0) {
            if (statusOf(chunk) !== undefined) scan(chunk);
            const text = chunk.toString("latin1", 0, 2_000);
            const head = text.indexOf("\r\n\r\n") + 4;
            length = head + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
          }
          read += chunk.length;
          tally.count("bytes read", chunk.length);
          if (isDeaf) line.pause();
          else if (read >= length) ask(line);
        },
      };
    },
  });
}

/** Raids with files. */
export const fileRaids: readonly Raid[] = [
  {
    name: "uploads",
    who: "key with `files:write`: uploads of 4 MiB on 20 connections",
    attack: (camp, tally) => upload(camp, tally, 20, longUpload),
  },
  {
    name: "short-uploads",
    who: "key with `files:write`: uploads of a hundred bytes on 200 connections",
    attack: (camp, tally) => upload(camp, tally, 200, "x".repeat(100)),
  },
  {
    name: "downloads",
    row: 2,
    mustBeTold: true,
    who: "one user token: downloads of a file of 32 MiB on 20 connections",
    attack: (camp, tally) => download({ camp, tally, connections: 20 }),
  },
  {
    name: "short-downloads",
    row: 2,
    mustBeTold: true,
    who: "one user token: one byte of a file, as fast as it is answered, on 400 connections",
    attack: (camp, tally) => download({ camp, tally, connections: 400, lines: ["Range: bytes=0-0"] }),
  },
  {
    name: "deaf-downloads",
    row: 3,
    leastMs: stallMs,
    who: "one user token: downloads of a file of 32 MiB on 900 connections that do not read",
    attack: (camp, tally) => download({ camp, tally, connections: 900, isDeaf: true }),
  },
];
