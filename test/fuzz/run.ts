import { memoryOf } from "../../bench/harness/meter.ts";
import { OPCODE, openRawSocket } from "../harness/clients/raw-socket.ts";
import { within } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { filesOf } from "../harness/servers/files.ts";
import { errorsLogged, type Herald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { exchange } from "./exchange.ts";
import type { Place } from "./http-call.ts";
import { makeHttpCase } from "./http-case.ts";
import { judgeHttp, judgeSocket, type Verdict } from "./judge.ts";
import { once } from "./pick.ts";
import { makeSocketCase, type SocketCase } from "./socket-case.ts";

/** The settings of a server to fuzz: no rates, and stalled connections are abandoned soon. */
export const fuzzSettings = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_LIMIT_REFUSALS_PER_SECOND: "0",
  HERALD_LIMIT_USER_REQUESTS: "0",
  HERALD_LIMIT_CONNECTIONS_PER_USER: "0",
  HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "0",
  HERALD_LIMIT_IDLE_SECONDS: "10",
};

const lanes = 24;
const hangsAfterMs = 60_000;
const casesPerWitness = 250;
const pulseMs = 2_000;
const openMessages = 20;

/** A case whose outcome is not as documented. `bytes` is what was sent in hexadecimal, up to 4 KiB. */
export type Unexpected = { seed: number; number: number; kind: string; fault: string; answer: string; bytes: string };

/** The results of a run. */
export type FuzzReport = {
  cases: number;
  answers: Map<string, number>;
  unexpected: Unexpected[];
  errorsLogged: string[];
  /** The most memory that the server had at any pulse, and at the end. */
  mostBytes: number;
};

type Options = {
  herald: Herald;
  seed: number;
  /** Whether to end the run; called before each case with its number, counted from 0. */
  isOver(number: number): boolean;
  /** Plays only this case. */
  only?: number;
};

/** Sends hostile cases in parallel, and meanwhile messages of an ordinary caller to an ordinary listener. */
export async function fuzz({ herald, seed, isOver, only }: Options): Promise<FuzzReport> {
  const report: FuzzReport = { cases: 0, answers: new Map(), unexpected: [], errorsLogged: [], mostBytes: 0 };
  const witness = await startWitness(herald);
  let place = await preparePlace(herald);
  let next = only ?? 0;

  function noteMemory(): void {
    report.mostBytes = Math.max(report.mostBytes, memoryOf(herald.pid));
  }

  async function play(number: number): Promise<void> {
    const { kind, bytes, verdict } = await playCase(herald, seed, number, place);
    report.cases += 1;
    report.answers.set(verdict.answer, (report.answers.get(verdict.answer) ?? 0) + 1);
    if (verdict.fault === undefined) return;
    report.unexpected.push({
      seed,
      number,
      kind,
      fault: verdict.fault,
      answer: verdict.answer,
      bytes: bytes.subarray(0, 4096).toString("hex"),
    });
  }

  async function lane(): Promise<void> {
    while (only === undefined ? !isOver(next) : next === only) {
      const number = next++;
      await play(number);
      if (number % casesPerWitness === 0) {
        await witness.listen();
        place = await preparePlace(herald); // cases change who takes part
      }
    }
  }

  // Pulses even while a case waits to be abandoned: the witness's own connection must not be idle for that long.
  const pulse = setInterval(() => {
    noteMemory();
    void witness.listen().catch(() => undefined);
  }, pulseMs);
  await Promise.all(Array.from({ length: lanes }, lane)).finally(() => clearInterval(pulse));
  noteMemory(); // a short run may end before the first pulse
  await witness.listen(); // rejects if any earlier call did
  witness.stop();
  report.errorsLogged = errorsLogged(herald);
  return report;
}

async function preparePlace(herald: Herald): Promise<Place> {
  const org = await createOrganization(herald, "fuzzed");
  await org.conversation(["alice"], "room");
  const { file_id: file } = await filesOf(org).uploaded("a.txt", "a file");
  const webhook = "push";
  await herald.admin("PUT", org.path("webhooks", webhook), { url: "https://webhooks.invalid/" });
  const { body } = await herald.admin<{ id: string }>("POST", org.path("webhooks", webhook, "test"));
  const open = async () => (await org.sent("alice", { cid: "room", open: true })).server_mid;
  const others = await Promise.all(Array.from({ length: openMessages }, open));
  const known = { org: "fuzzed", uid: "alice", cid: "room", webhook, delivery: body.id, file };
  return { key: herald.key, token: await org.token("alice"), ...known, open: [await open(), ...others] };
}

/** Starts an ordinary conversation, which continues whatever the others send. */
async function startWitness(herald: Herald) {
  const org: Organization = await createOrganization(herald);
  const cid = await org.conversation(["sender", "listener"]);
  const socket = await org.socket("listener");
  let count = 0;
  let turn: Promise<void> = Promise.resolve();
  const listen = async () => {
    const body = `message ${++count}`;
    await org.sent("sender", { cid, body });
    const heard = (await socket.next()).message?.body;
    if (heard !== body) throw new Error(`the witness waited for ${body} and heard ${heard}`);
  };
  return {
    listen() {
      turn = turn.then(listen);
      return turn;
    },
    stop: () => socket.terminate(),
  };
}

async function playCase(herald: Herald, seed: number, number: number, place: Place) {
  const random = createRandom((seed * 1_000_003 + number) >>> 0);
  random.next(); // neighbouring seeds begin alike
  if (once(random, 4)) {
    const made = makeSocketCase(random, place);
    const { verdict, bytes } = await playSocket(herald, made, place);
    return { kind: `socket: ${made.kind}`, bytes, verdict };
  }
  const made = makeHttpCase(random, place);
  const thenEnds = !made.isHttp && !once(random, 12);
  const outcome = await exchange(herald.url, made.chunks, { thenEnds, isSlow: made.isSlow, timeoutMs: hangsAfterMs });
  return { kind: `http: ${made.kind}`, bytes: Buffer.concat(made.chunks), verdict: judgeHttp(made, outcome) };
}

async function playSocket(
  herald: Herald,
  made: SocketCase,
  place: Place,
): Promise<{ verdict: Verdict; bytes: Buffer }> {
  const sent: Buffer[] = [];
  const texts: string[] = [];
  const options = { ...(made.hasToken && { token: place.token }), onText: (text: string) => void texts.push(text) };
  using socket = await openRawSocket(herald.url, options);
  const note = (payload: string | Uint8Array = "") => sent.push(Buffer.from(payload));
  made.act({
    ...socket,
    sendFrame(frame) {
      note(frame.payload);
      socket.sendFrame(frame);
    },
    sendBytes(bytes) {
      note(bytes);
      socket.sendBytes(bytes);
    },
  });
  socket.sendFrame({ opcode: OPCODE.close, payload: new Uint8Array([0x03, 0xe8]) });
  // Bytes after half a frame are its rest: the server cannot know that they were meant as a close.
  if (!made.isWhole) setTimeout(socket.cut, 200);
  const ended = await within(socket.ended, "the end of a socket", hangsAfterMs).catch(() => undefined);
  return {
    verdict: judgeSocket(made, { texts, closeCode: ended?.closeCode, isHung: ended === undefined }),
    bytes: Buffer.concat(sent),
  };
}
