import { HeraldError } from "../../../src/contract/errors/errors.ts";
import { lengthOf } from "../../../src/contract/messages/append.ts";
import { bootstrapId } from "../../../src/services/keys/bootstrap-key.ts";
import { type Caller, unrestricted } from "../../../src/services/keys/permissions.ts";
import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import type { GrowthClimate } from "./climate.ts";
import type { Node } from "./node.ts";
import type { Truth } from "./truth.ts";

/** What a sender means to say, and what it was answered: the longest text, and whether all of it is stored. */
export type Draft = { id: string; plan: string[]; acknowledged: number; isDone: boolean };

/** What all senders share. */
export type Senders = {
  random: Random;
  climate: GrowthClimate;
  orgs: string[];
  uids: string[];
  cids: string[];
  drafts: Draft[];
  truth: Truth;
  broken: string[];
  now(): number;
  /** Whether a sender may call once more; counts calls. */
  mayCall(): boolean;
  /** A node that takes calls, if there is one. */
  pickNode(): Node | undefined;
};

/** The caller of all calls. */
export const caller: Caller = {
  keyId: bootstrapId,
  rights: unrestricted,
  secretExpiresAt: undefined,
  digest: undefined,
};

/** How a call ends: with its answer, with a refusal, or nobody knows. */
export type Ended<Answer> = { answer: Answer } | { error: HeraldError } | undefined;

/** Calls a node once. `undefined`: it died, or the database was away. */
export async function callOnce<Answer>(
  { pickNode }: Pick<Senders, "pickNode">,
  work: (node: Node) => Promise<Answer>,
): Promise<Ended<Answer>> {
  const node = pickNode();
  if (node === undefined) return undefined;
  try {
    const answer = await Promise.race([work(node), node.died]);
    return answer === "died" ? undefined : { answer: answer as Answer };
  } catch (error) {
    if (!(error instanceof HeraldError)) throw error;
    return error.code === "unavailable" ? undefined : { error };
  }
}

const mostRefusals = 3;
const againMs = 100;
const alphabet = ["a", "b", "é", "👋", "\n", '"', "\\", " "];

/** Sends messages one after another, most of which grow. */
export async function runSender(senders: Senders): Promise<void> {
  const { random, climate, mayCall, orgs, uids, cids } = senders;
  let count = 0;
  const name = `${random.integer(0, 1e9)}`;
  while (mayCall()) {
    await pause(random.integer(1, climate.gapMs * 4));
    const isWhole = random.next() < climate.whole;
    const characters = random.integer(0, random.pick([10, climate.messageCharacters]));
    const plan = Array.from({ length: characters + (isWhole ? 1 : 0) }, () => random.pick(alphabet));
    const place = {
      org: random.pick(orgs),
      sender: random.pick(uids),
      cid: random.pick(cids),
      mid: `${name}-${++count}`,
    };
    const begun = isWhole || random.next() < 0.5 ? plan.length * (isWhole ? 1 : random.next() * 0.3) : 0;
    const draft = await open(senders, place, plan, Math.floor(begun), !isWhole);
    if (draft === undefined) continue;
    if (isWhole) draft.isDone = true;
    else await grow(senders, place, draft, Math.floor(begun));
  }
}

type Place = Record<"org" | "sender" | "cid" | "mid", string>;

/** Sends a message with the first characters, until it is answered. */
async function open(
  senders: Senders,
  { org: organizationId, sender: senderId, cid, mid }: Place,
  plan: string[],
  begun: number,
  isOpen: boolean,
): Promise<Draft | undefined> {
  const { random, climate, drafts, now } = senders;
  const expires_at =
    random.next() < climate.expiring ? new Date(now() + random.integer(1, climate.lastMs)).toISOString() : undefined;
  const content = { id: mid, cid, body: plan.slice(0, begun).join(""), x: {}, attachments: [] };
  const message = { ...content, ...(isOpen && { open: true as const }), ...(expires_at && { expires_at }) };
  for (;;) {
    const ended = await callOnce(senders, ({ messages }) =>
      messages.send(caller, { organizationId, senderId, message }),
    );
    if (ended !== undefined && "error" in ended) return undefined; // the sender is erased, or it was too late to expire
    if (ended !== undefined) {
      const draft = { id: ended.answer.body.ask.server_mid, plan, acknowledged: begun, isDone: false };
      drafts.push(draft);
      return draft;
    }
    await pause(random.integer(1, againMs));
  }
}

/** Appends until all is said, the message is gone, or the sender gives up. Where it goes on it knows by `length`, after trouble. */
async function grow(senders: Senders, place: Place, draft: Draft, begun: number): Promise<void> {
  const { random, climate } = senders;
  const givesUpAt = random.next() < climate.abandoned ? random.integer(0, draft.plan.length) : Number.POSITIVE_INFINITY;
  const streams = random.next() < climate.streams;
  const state: Growing = { place, draft, length: begun, refusals: 0, isOver: false, pieces: [] };
  while (!state.isOver && state.refusals < mostRefusals && state.length < givesUpAt && senders.mayCall()) {
    if (random.next() < climate.silences) await pause(random.integer(1, climate.silenceMs * 2));
    else await pause(random.integer(0, climate.gapMs));
    if (streams && random.next() < 0.7) await stream(senders, state);
    else await appendNext(senders, state);
  }
}

type Piece = { offset: number; text: string; done: boolean };

/** How far a sender has come, with the pieces that were answered. */
type Growing = { place: Place; draft: Draft; length: number; refusals: number; isOver: boolean; pieces: Piece[] };

/** The next piece of the plan. */
function nextPiece({ random, climate }: Senders, { draft: { plan }, length }: Growing): Piece {
  const text = plan.slice(length, length + random.integer(1, climate.pieceCharacters));
  const end = length + text.length;
  const done = end >= plan.length && (text.length === 0 || random.next() < 0.5);
  return { offset: length, text: text.join(""), done };
}

const append = (senders: Senders, { place, draft: { id } }: Growing, piece: Piece) =>
  callOnce(senders, ({ appends }) =>
    appends.append(caller, {
      organizationId: place.org,
      senderId: place.sender,
      messageAppend: { id, ...piece },
    }),
  );

async function appendNext(senders: Senders, state: Growing): Promise<void> {
  const { random, climate } = senders;
  if (random.next() < climate.repeats) return await repeat(senders, state);
  if (random.next() < climate.misplaced) return await misplace(senders, state);
  const piece = nextPiece(senders, state);
  const twin = random.next() < climate.twins ? append(senders, state, piece) : undefined;
  const ended = [await append(senders, state, piece), await twin];
  const known = ended.find((one) => one !== undefined);
  for (const one of ended) if (one !== undefined) follow(senders, state, piece, one);
  if (known === undefined) await pause(random.integer(1, againMs)); // and then the same again, or another piece at this place
}

type Answered = Exclude<Awaited<ReturnType<typeof append>>, undefined>;

/** Notes an answer to a piece. */
function follow(senders: Senders, state: Growing, piece: Piece, ended: Answered): void {
  const end = piece.offset + lengthOf(piece.text);
  if ("error" in ended) {
    refuse(senders, state, ended.error);
    return;
  }
  const { length } = ended.answer.body;
  if (length !== end) senders.broken.push(`a piece that ends at ${end} of ${state.draft.id} is answered ${length}`);
  state.refusals = 0;
  state.pieces.push(piece);
  acknowledge(senders, state, end, piece.done);
}

/** Notes that so much of the plan is stored, and that it was told to be. */
function acknowledge({ truth, broken }: Senders, state: Growing, length: number, done: boolean): void {
  const { draft } = state;
  state.length = Math.max(state.length, length);
  state.isOver ||= done;
  draft.acknowledged = Math.max(draft.acknowledged, length);
  draft.isDone ||= done;
  const said = truth.last(draft.id);
  if (said === undefined || said.isGone || said.isEdited) return;
  if (!said.text.startsWith(draft.plan.slice(0, length).join("")))
    broken.push(`${length} characters of ${draft.id} are answered, and it says ${show(said.text)}`);
  if (done && said.isOpen) broken.push(`${draft.id} is told to be complete, and is open`);
}

function refuse({ broken }: Senders, state: Growing, error: HeraldError): void {
  state.refusals++;
  const { code, length } = error;
  if (code === "append_conflict" && length !== undefined) {
    if (length > state.draft.plan.length)
      state.isOver = true; // it says something else
    else if (length > state.length) state.refusals = 0;
    state.length = Math.max(state.length, Math.min(length, state.draft.plan.length));
    return;
  }
  state.isOver = true;
  if (!["message_not_found", "sender_not_participant", "append_conflict"].includes(code))
    broken.push(`a piece of ${state.draft.id} is refused with ${code}`);
}

/** Repeats a piece that was answered: nothing changes. */
async function repeat(senders: Senders, state: Growing): Promise<void> {
  const { random, broken } = senders;
  const { pieces, draft } = state;
  if (pieces.length === 0) return;
  const piece = random.pick(pieces);
  const ended = await append(senders, state, piece);
  if (ended === undefined) return;
  const end = piece.offset + lengthOf(piece.text);
  if ("answer" in ended && ended.answer.body.length !== end)
    broken.push(`a repeated piece that ends at ${end} of ${draft.id} is answered ${ended.answer.body.length}`);
  if ("answer" in ended && !ended.answer.isReplay && !draft.isDone)
    broken.push(`a repeated piece at ${piece.offset} of ${draft.id} is stored again`);
}

/** Sends another text at a place where the text does not end: it is refused, with the length. */
async function misplace(senders: Senders, state: Growing): Promise<void> {
  const { random, truth, broken, now } = senders;
  const { draft, length } = state;
  const offset = random.pick([0, random.integer(0, length), length + random.integer(1, 5)]);
  if (offset === length || offset === lengthOf(truth.last(draft.id)?.text ?? "")) return; // more may be stored than was answered
  const from = now();
  const ended = await append(senders, state, { offset, text: "?", done: false });
  if (ended === undefined) return;
  if ("answer" in ended) return void broken.push(`a piece at ${offset} of ${draft.id} is taken, which has ${length}`);
  const { code, length: told } = ended.error;
  const lengths = truth.saidBetween(draft.id, from, now()).map(({ text }) => lengthOf(text));
  if (code === "append_conflict" && !lengths.includes(told ?? -1))
    broken.push(`${draft.id} is told to have ${told} characters, and has ${lengths}`);
  refuse(senders, state, ended.error);
}

/** Streams lines until all is said, the node dies, or the connection breaks at any place. */
async function stream(senders: Senders, state: Growing): Promise<void> {
  const { random, climate, pickNode, mayCall } = senders;
  const node = pickNode();
  if (node === undefined) return await pause(againMs);
  const { place, draft } = state;
  const first = nextPiece(senders, state);
  const lines: Piece[] = [];
  let isOver = false;

  async function* blocks() {
    const messageAppend = { id: draft.id, ...first };
    yield blockOf(1, JSON.stringify({ organizationId: place.org, senderId: place.sender, messageAppend }));
    lines.push(first);
    for (let last = first; !last.done && !isOver && mayCall(); ) {
      if (random.next() < 0.5) await pause(random.integer(0, climate.gapMs));
      if (random.next() < climate.breaks) {
        if (random.next() < 0.5) throw new Error("the connection broke");
        return; // the end of the body
      }
      last = nextPiece(senders, { ...state, length: last.offset + lengthOf(last.text) });
      lines.push(last);
      yield blockOf(lines.length, JSON.stringify({ text: last.text, ...(last.done && { done: true }) }));
    }
  }

  async function read(node: Node): Promise<void> {
    const call = { requestId: "r", pay: async () => undefined, permit: async () => undefined };
    const answers = await node.appendStreams.open(caller, blocks(), call);
    let count = 0;
    for await (const text of answers) {
      for (const line of text.split("\n").slice(0, -1)) {
        if (!node.isAlive) return;
        const answer = JSON.parse(line);
        const piece = lines[count++];
        if (piece !== undefined && answer.success === true) {
          followLine(senders, state, piece, answer.length);
          continue;
        }
        if (answer.code !== "unavailable" && answer.code !== "bad_request")
          refuse(senders, state, new HeraldError(answer.code, undefined, { length: answer.length }));
        return;
      }
    }
  }

  try {
    await Promise.race([read(node), node.died]);
  } catch (error) {
    if (!(error instanceof HeraldError)) throw error;
    if (error.code !== "unavailable") refuse(senders, state, error);
  }
  isOver = true;
}

function followLine(senders: Senders, state: Growing, { offset, text, done }: Piece, length: number): void {
  const end = offset + lengthOf(text);
  if (length !== end) senders.broken.push(`a line that ends at ${end} of ${state.draft.id} is answered ${length}`);
  state.refusals = 0;
  acknowledge(senders, state, end, done);
}

const blockOf = (first: number, line: string) => ({ first, lines: [line], bytes: line.length });

/** The end of a text, to be read by people. */
export const show = (text: string) => JSON.stringify(text.length > 60 ? `${text.length}: …${text.slice(-50)}` : text);
