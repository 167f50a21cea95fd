import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { cpuMsOf } from "../harness/meter.ts";
import { benchOrg } from "../harness/organization.ts";
import { inRounds } from "../harness/report/rounds.ts";
import { renderSideBySide } from "../harness/report/side-by-side.ts";
import { percentile } from "../harness/report/statistics.ts";
import type { Case, Findings } from "./case.ts";

const sizes = [300, 600, 5_000];
const groupSize = 4;
const everyMs = 5_000;
const mostRounds = 3;
const connectsAtOnce = 100;
const body = "The quick brown fox jumps over the lazy dog, and then it does so once more, until the line is full.";

const measured = {
  cpuShare: ["CPU of the server, of one core", "%"],
  sends: ["messages", "/s"],
  deliveries: ["deliveries", "/s"],
  p50Ms: ["from a send to the last of its group: p50", "ms"],
  p99Ms: ["… p99", "ms"],
} as const;

/**
 * The load test that SAMA publishes (`load_testing` in its server's repository): groups of four users, each of whom is connected and
 * sends a message every five seconds; here, a back end sends it on the user's behalf. A run lasts 15 s at least.
 */
export const sama: Case = async (dataDir, pace) => {
  const herald = await startHerald(dataDir, { HERALD_LIMIT_PING_SECONDS: "25" });
  const found: Findings & { tables: string[] } = { series: {}, rows: [], tables: [] };
  for (const size of sizes) {
    const users = await openUsers(herald, size);
    const title = `SAMA's load test, ${size.toLocaleString("en-US")} users`;
    const contender = { name: "herald", run: (ms: number) => users.chat(Math.max(ms, 3 * everyMs)) };
    const series = await inRounds([contender], {
      ...pace,
      rounds: Math.min(pace.rounds, mostRounds),
      warmUpMs: everyMs,
    });
    users.close();
    found.series[title] = series;
    found.tables.push(renderSideBySide(title, series, measured));
  }
  await herald.stop();
  return found;
};

/** Connects users in groups. `chat` lets each of them send every five seconds, spread evenly. */
async function openUsers(herald: HeraldPeer, size: number) {
  const uids = Array.from({ length: size }, (_, index) => `u${size}-${index}`);
  const groupOf = (index: number) => `g${size}-${Math.floor(index / groupSize)}`;
  for (let first = 0; first < size; first += groupSize)
    await herald.putConversation(groupOf(first), uids.slice(first, first + groupSize));
  const tokens = await herald.tokensOf(uids);
  const left = new Map<string, { at: number; listeners: number }>(); // of each message on its way, by its text
  let times: number[] = [];
  let deliveries = 0;

  function hear(data: unknown): void {
    const text: string | undefined = JSON.parse(String(data)).message?.body;
    const sent = text === undefined ? undefined : left.get(text);
    if (text === undefined || sent === undefined) return;
    deliveries++;
    if (--sent.listeners > 0) return;
    left.delete(text);
    times.push(performance.now() - sent.at);
  }

  async function connect(token: string): Promise<WebSocket> {
    const socket = new WebSocket(`${herald.url.replace("http", "ws")}/ws`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.onopen = () => socket.send(JSON.stringify({ request: { connect: { token }, id: 1 } }));
    socket.onmessage = () => resolve();
    socket.onerror = () => reject(new Error(`${herald.url} refused a user`));
    await promise;
    socket.onmessage = ({ data }) => hear(data);
    return socket;
  }

  const sockets: WebSocket[] = [];
  while (sockets.length < size) {
    const next = tokens.slice(sockets.length, sockets.length + connectsAtOnce);
    sockets.push(...(await Promise.all(next.map(connect))));
  }

  async function send(index: number): Promise<void> {
    const text = `${crypto.randomUUID()} ${body}`;
    left.set(text, { at: performance.now(), listeners: groupSize });
    const { ok, status } = await fetch(`${herald.url}/admin/message`, {
      method: "POST",
      headers: { "Admin-Api-Key": benchOrg.key, "Content-Type": "application/json" },
      body: JSON.stringify({
        organizationId: benchOrg.id,
        senderId: uids[index],
        message: { id: crypto.randomUUID(), body: text, cid: groupOf(index), x: {} },
      }),
    });
    if (!ok) throw new Error(`a send was answered ${status}`);
  }

  return {
    async chat(ms: number) {
      [times, deliveries] = [[], 0];
      const [startedAt, cpu] = [performance.now(), cpuMsOf(herald.pid)];
      const sends: Promise<void>[] = [];
      while (performance.now() - startedAt < ms) {
        const due = ((performance.now() - startedAt) / everyMs) * size;
        while (sends.length < due) sends.push(send(sends.length % size));
        await Bun.sleep(1);
      }
      const seconds = (performance.now() - startedAt) / 1000;
      const cpuShare = (cpuMsOf(herald.pid) - cpu) / seconds / 10;
      await Promise.all(sends);
      while (left.size > 0) await Bun.sleep(1);
      if (deliveries !== sends.length * groupSize) throw new Error("a message was lost, or came twice");
      return {
        cpuShare,
        sends: sends.length / seconds,
        deliveries: deliveries / seconds,
        p50Ms: percentile(times, 0.5),
        p99Ms: percentile(times, 0.99),
      };
    },
    close(): void {
      for (const socket of sockets) socket.close();
    },
  };
}
