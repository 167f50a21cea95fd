import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { Session } from "../../../src/services/sessions/sessions.ts";
import type { Random } from "../../harness/random.ts";
import type { Climate } from "../climate.ts";
import type { Database } from "./database.ts";
import type { Node } from "./node.ts";
import { tokenOf } from "./surroundings.ts";
import { pause } from "./time.ts";

const healthyBytesPerMs = 1024 * 1024;
const removedCode = 4403;

type Answer = { recovered?: boolean; unread_system_messages_count?: number; error?: { code: string } };

/** What one connection asked for, was told, and heard. Times in milliseconds. */
export type Hearing = {
  readonly attempt: number;
  readonly org: string;
  readonly uid: string;
  readonly node: string;
  readonly issuedAt: number;
  readonly since: string | undefined;
  readonly isSlowReader: boolean;
  /** Uses server-sent events, which neither say why they end nor show when they have joined. */
  readonly isStream: boolean;
  readonly beganAt: number;
  /** The head of the log in the session's snapshot; set once the server opened it. */
  head: number | undefined;
  headId: string | undefined;
  openedAt: number | undefined;
  /** The server's answer to `connect`. */
  answer: Answer | undefined;
  answeredAt: number | undefined;
  joinedAt: number | undefined;
  heard: { event: LogEvent; at: number }[];
  /** The number of frames in flight when it broke, which never arrived. */
  lost: number;
  /** Frames that match no event. */
  unknown: string[];
  ended: { at: number; code: number; byClient: boolean } | undefined;
};

/** What all clients share: whom they connect to, and the record of everything they heard. */
export type Clients = {
  random: Random;
  climate: Climate;
  database: Database;
  now(): number;
  isActive(): boolean;
  /** Whether the world has ended, so that nobody connects any more. */
  isOver(): boolean;
  /** A node that accepts connections, if there is one. */
  pickNode(): Node | undefined;
  hearings: Hearing[];
  note(text: () => string): void;
};

/** Records the session that the server opened for a token. */
export function recordSession(hearings: Hearing[], token: string, session: Session, now: number): void {
  const { attempt }: { attempt: number } = JSON.parse(token);
  const hearing = hearings[attempt];
  if (hearing === undefined) return;
  hearing.head = session.head;
  hearing.headId = session.headId;
  hearing.openedAt = now;
}

/** A client that comes and goes as long as things happen, and then stays. */
export async function runClient(clients: Clients, org: string, uid: string): Promise<void> {
  const { random, climate, now, isActive, isOver, pickNode } = clients;
  const isSlowReader = random.next() < climate.slowReaders;
  const isStream = random.next() < climate.streams;
  let lastSeen: string | undefined;
  await pause(random.integer(0, climate.activeMs / 2));
  while (!isOver()) {
    const node = pickNode();
    if (node === undefined) {
      await pause(50);
      continue;
    }
    const since = chooseSince(random, climate, lastSeen);
    const { hearing, ended, cut } = connect(clients, node, { org, uid, since, isSlowReader, isStream });
    const stayMs = random.integer(1, climate.stayMs);
    if (now() + stayMs < climate.activeMs) {
      await Promise.race([ended, pause(stayMs)]);
      if (hearing.ended === undefined && isActive()) cut();
    }
    await ended;
    loseLastFrames(random, hearing);
    lastSeen = hearing.heard.findLast(({ event }) => event.kind === "message")?.event.id ?? lastSeen;
    await pause(random.integer(0, climate.awayMs));
  }
}

function chooseSince(random: Random, climate: Climate, lastSeen: string | undefined): string | undefined {
  if (random.next() >= climate.comesBackWithSince) return undefined;
  return random.next() < 0.03 ? "nobody knows this" : lastSeen;
}

/** Frames in flight when the connection broke never arrived. */
function loseLastFrames(random: Random, hearing: Hearing): void {
  if (hearing.ended?.code === removedCode) return;
  hearing.lost = Math.min(hearing.heard.length, random.integer(0, 2));
  hearing.heard.length -= hearing.lost;
}

type Wish = Pick<Hearing, "org" | "uid" | "since" | "isSlowReader" | "isStream">;

function connect(clients: Clients, node: Node, wish: Wish) {
  const { uid, org, since, isSlowReader, isStream } = wish;
  const { random, database, now, isActive, hearings, note } = clients;
  const attempt = hearings.length;
  const issuedAt = now() - (random.next() < 0.1 ? random.integer(0, 2_000) : 0);
  const hearing: Hearing = {
    ...wish,
    attempt,
    node: node.name,
    issuedAt,
    beganAt: now(),
    head: undefined,
    headId: undefined,
    openedAt: undefined,
    answer: undefined,
    answeredAt: undefined,
    joinedAt: undefined,
    heard: [],
    lost: 0,
    unknown: [],
    ended: undefined,
  };
  hearings.push(hearing);
  note(
    () => `connection ${attempt} of ${uid} in ${org} to ${node.name}${since === undefined ? "" : ` since ${since}`}`,
  );
  const { promise: ended, resolve: onEnded } = Promise.withResolvers<void>();
  let isCutting = false;

  const slowBytesPerMs = random.integer(2, 200);
  const wire = {
    get bytesPerMs() {
      return isSlowReader && isActive() ? slowBytesPerMs : healthyBytesPerMs;
    },
    onText(text: string) {
      const event = database.eventOf(text);
      if (event !== undefined) hearing.heard.push({ event, at: now() });
      else readAnswer(hearing, text, now());
      note(() => `connection ${attempt} hears ${event === undefined ? text : `${event.id} at ${event.offset}`}`);
    },
    onSubscribed() {
      if (hearing.joinedAt === undefined) note(() => `connection ${attempt} has joined`);
      hearing.joinedAt ??= now();
    },
    onEnd(code: number) {
      hearing.ended = { at: now(), code, byClient: isCutting };
      note(() => `connection ${attempt} ends with ${code}${isCutting ? ", cut by the client" : ""}`);
      onEnded();
    },
  };
  const breakOff = node.connect(wire, { token: tokenOf({ org, uid, issuedAt, attempt }), since, isStream });
  return {
    hearing,
    ended,
    cut() {
      isCutting = true;
      breakOff();
    },
  };
}

function readAnswer(hearing: Hearing, text: string, now: number): void {
  const { response }: { response?: Answer } = JSON.parse(text);
  if (response === undefined || hearing.answer !== undefined) {
    hearing.unknown.push(text);
  } else {
    hearing.answer = response;
    hearing.answeredAt = now;
  }
}
