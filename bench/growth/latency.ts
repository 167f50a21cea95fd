import { createAdmin } from "../../sdk/admin.ts";
import type { MessageAppend } from "../../sdk/types.ts";
import { createRandom } from "../../test/harness/random.ts";
import { startCluster } from "../../test/harness/servers/cluster.ts";
import { type Herald, startHerald } from "../../test/harness/servers/herald.ts";
import { createOrganization } from "../../test/harness/servers/organization.ts";
import { liftedLimits, tokenSecret } from "../harness/herald.ts";
import { cpuMsOf, processorWaitMsOf } from "../harness/meter.ts";
import { table } from "../harness/report/report.ts";
import { median, percentile, spreadOf } from "../harness/report/statistics.ts";
import { createDataDir } from "../harness/servers.ts";
import { answerOf } from "./answer.ts";
import { createReader, type Reader, untilReady } from "./reader.ts";

/** How many answers are told at once, each to so many listeners, and how often. */
export type LatencySize = { answers: number; listeners: number; seconds: number; rounds: number };

/**
 * One round: how long pieces took from `write` to the callback of the client, and what else there is to know. `waitMs` is how long the
 * first threads of the nodes and of this process waited for a processor, together.
 */
type Round = {
  times: number[];
  pieces: number;
  frames: number;
  seconds: number;
  cpuMs: number;
  waitMs: number;
  wrong: string[];
};

type Node = Pick<Herald, "url" | "key" | "pid">;
type Place = { name: string; run(seconds: number): Promise<Round>; close(): void };

const [shortestMs, longestMs, pieceBytes] = [100, 250, 50];
const { pieces } = answerOf(1_000, 1_000 * pieceBytes);
const sender = "agent";
const mostP50Ms = 15;
const p50Of = ({ times }: Round) => percentile(times, 0.5);
const columns = [
  "",
  "pieces a second",
  "heard in one frame",
  "p50",
  "p99",
  "worst",
  "rounds' p50",
  "CPU of the nodes, of one core",
  "waited for a core",
];

/** An answer as it is heard: when its text so far was written, and what its listeners have of it. */
type Telling = { id: string; ends: { length: number; at: number }[]; heard: { text: string; next: number }[] };

/** Prepares conversations with their listeners, each on the next of the nodes; their senders are on another one. */
async function prepare(name: string, nodes: readonly Node[], herald: Herald, size: LatencySize): Promise<Place> {
  const { answers, listeners } = size;
  const org = await createOrganization(herald);
  const nodeOf = (index: number) => nodes[index % nodes.length] ?? herald;
  const byId = new Map<string, Telling>();
  const all: Reader[] = [];
  let times: number[] = [];
  let frames = 0;

  function hear(piece: MessageAppend, listener: number): void {
    const now = performance.now();
    const telling = byId.get(piece.id);
    if (telling === undefined) throw new Error("a piece of nothing"); // no piece is written before the id is known
    frames++;
    const heard = telling.heard[listener];
    if (heard === undefined) return;
    heard.text += piece.text;
    for (let end = telling.ends[heard.next]; end && end.length <= heard.text.length; end = telling.ends[++heard.next])
      times.push(now - end.at);
  }

  const cids = await Promise.all(
    Array.from({ length: answers }, async (_, answer) => {
      const uids = Array.from({ length: listeners }, (_, listener) => `reader-${answer}-${listener}`);
      for (const [listener, uid] of uids.entries()) {
        const urls = [nodeOf(answer + listener + 1).url];
        all.push(createReader({ urls, org: org.id, uid, onPiece: (piece) => hear(piece, listener) }));
      }
      return await org.conversation([sender, ...uids]);
    }),
  );
  for (const { client } of all) client.start();
  await untilReady(all);

  async function tell(answer: number, untilMs: number): Promise<string[]> {
    const random = createRandom(answer + 1);
    const { url, key } = nodeOf(answer);
    await Bun.sleep(random.integer(0, longestMs));
    const growing = await createAdmin({ url, key }).stream({
      organizationId: org.id,
      senderId: sender,
      message: { cid: cids[answer] ?? "" },
    });
    const heard = Array.from({ length: listeners }, () => ({ text: "", next: 0 }));
    const telling: Telling = { id: growing.id, ends: [], heard };
    byId.set(growing.id, telling);
    let text = "";
    for (let index = 0; performance.now() < untilMs; index++) {
      const piece = pieces[index % pieces.length] ?? "";
      text += piece;
      telling.ends.push({ length: text.length, at: performance.now() });
      void growing.write(piece);
      await Bun.sleep(random.integer(shortestMs, longestMs));
    }
    await growing.done();
    const endsAt = performance.now() + 5_000;
    while (heard.some((one) => one.text.length < text.length) && performance.now() < endsAt) await Bun.sleep(20);
    const wrong = heard.filter((one) => one.text !== text).length;
    return wrong === 0 ? [] : [`${wrong} listeners of answer ${answer} on ${name} heard another text`];
  }

  return {
    name,
    async run(seconds) {
      times = [];
      frames = 0;
      byId.clear();
      const sumOf = (figure: (pid: number) => number, pids: readonly number[]) =>
        pids.reduce((sum, pid) => sum + figure(pid), 0);
      const pids = nodes.map(({ pid }) => pid);
      const [cpuBefore, waitBefore] = [sumOf(cpuMsOf, pids), sumOf(processorWaitMsOf, [process.pid, ...pids])];
      const startedAt = performance.now();
      const untilMs = startedAt + seconds * 1000;
      const wrong = (await Promise.all(cids.map((_, answer) => tell(answer, untilMs)))).flat();
      const cpuMs = sumOf(cpuMsOf, pids) - cpuBefore;
      const waitMs = sumOf(processorWaitMsOf, [process.pid, ...pids]) - waitBefore;
      const written = [...byId.values()].reduce((sum, { ends }) => sum + ends.length, 0);
      return { times, pieces: written, frames, seconds: (performance.now() - startedAt) / 1000, cpuMs, waitMs, wrong };
    },
    close() {
      for (const { client } of all) client.stop();
    },
  };
}

/** Measures how long pieces take from the call that writes them to the client that has read them. Returns what is wrong. */
export async function measureLatency(size: LatencySize): Promise<string[]> {
  const { answers, listeners, seconds, rounds } = size;
  const env = { HERALD_TOKEN_SECRET: tokenSecret, ...liftedLimits };
  const folder = createDataDir();
  await using embedded = await startHerald({ env, dataDir: folder.path });
  await using cluster = await startCluster({ nodes: 3, env: () => env });
  if (cluster === undefined) throw new Error("this needs PostgreSQL and NATS");
  const places = [
    await prepare("one node, SQLite", [embedded], embedded, size),
    await prepare("three nodes, PostgreSQL and NATS", cluster.nodes, cluster.node(0).herald, size),
  ];
  const series = new Map<string, Round[]>(places.map(({ name }) => [name, []]));
  for (const { run } of places) await run(Math.min(3, seconds)); // so that code is compiled
  for (let round = 0; round < rounds; round++)
    for (const { name, run } of places) series.get(name)?.push(await run(seconds));
  for (const place of places) place.close();
  folder.remove();

  console.log(
    `${answers} answers at once with ${listeners} listeners each, a piece of ${pieceBytes} bytes every ${shortestMs} to ${longestMs} ms; medians of rounds of ${seconds} s, ${rounds} each`,
  );
  const rows = [...series].map(([name, runs]) => {
    const of = (figure: (round: Round) => number) => median(runs.map(figure));
    const p50s = runs.map(p50Of);
    return [
      name,
      `${Math.round(of((round) => round.pieces / round.seconds))}`,
      of((round) => (round.pieces * listeners) / round.frames).toFixed(2),
      `${median(p50s).toFixed(1)} ms`,
      `${of(({ times }) => spreadOf(times).p99Ms).toFixed(1)} ms`,
      `${of(({ times }) => spreadOf(times).maxMs).toFixed(0)} ms`,
      `${Math.min(...p50s).toFixed(1)} – ${Math.max(...p50s).toFixed(1)} ms`,
      `${(of((round) => round.cpuMs / round.seconds) / 10).toFixed(0)} %`,
      `${(of((round) => round.waitMs / round.seconds) / 10).toFixed(0)} %`,
    ];
  });
  console.log(table(columns, rows));
  for (const [name, runs] of series)
    if (median(runs.map(p50Of)) >= mostP50Ms) console.log(`${name}: p50 is above ${mostP50Ms} ms`);
  return [...series.values()].flat().flatMap((round) => round.wrong);
}
