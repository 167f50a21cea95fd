import { openBatch, sendBatch } from "../../harness/clients/batch.ts";
import type { Ack, Ask, Done, ScheduledSend } from "../../harness/clients/wire.ts";
import { within } from "../../harness/deadline.ts";
import type { Random } from "../../harness/random.ts";
import type { ClusterNode } from "../../harness/servers/cluster.ts";
import { callUntilAnswered } from "./caller.ts";

/**
 * A message, with the texts that it had in turn, the last of them answered 200 or 201. It is in doubt if an answer to an
 * edit was lost: that call may have had its effect later than the next one. `isGone`: it was taken back, or has expired.
 */
export type Written = { id: string; texts: string[]; isInDoubt: boolean; isGone: boolean };

/** What was answered: what is so, unless the database lost it. */
export type Deeds = {
  written: Written[];
  /** The texts of batches of which all lines were answered 201. */
  batched: string[];
  /** Scheduled sends by their texts, and whether a cancellation was answered 204. */
  scheduled: { id: string; text: string; isCancelled: boolean }[];
  /** The kept system messages to the reader, oldest first. */
  notices: { id: string; key: string | undefined; isGone: boolean }[];
};

/** What all authors share. */
export type Authors = {
  nodes: readonly ClusterNode[];
  random: Random;
  org: string;
  cid: string;
  /** Creates texts, of which each is unique. */
  createText(): string;
  /** Whether the database may lose a message that is there. */
  losesTail: boolean;
  deeds: Deeds;
};

export const author = "the author";
export const reader = "the reader";
const mostEdits = 2;
const mostLines = 20;
const longestPauseMs = 60;
const mostAheadMs = 600;
const mostLifeMs = 1_200;

const pause = (random: Random, ms = longestPauseMs) => Bun.sleep(random.next() * ms);

/** When something expires, in milliseconds since the Unix epoch; mostly never. */
function chooseEnd(random: Random): number | undefined {
  return random.next() < 0.3 ? Date.now() + random.integer(200, mostLifeMs) : undefined;
}

const expiring = (endsAt: number | undefined) =>
  endsAt === undefined ? {} : { expires_at: new Date(endsAt).toISOString() };

/** Whether a send was held up until it would have expired, and is refused. */
function isTooLate(endsAt: number | undefined, { status }: { status: number }): boolean {
  return endsAt !== undefined && status === 422;
}

const untilExpired = async (endsAt: number) => await Bun.sleep(Math.max(0, endsAt - Date.now() + 1));

const callAs =
  (authors: Authors) =>
  async <T>(method: string, path: string, body: object) =>
    await callUntilAnswered<T>(authors, method, path, { organizationId: authors.org, senderId: author, ...body });

/** Sends a message, edits it, has it read, and takes it back; some expire meanwhile. */
export async function write(authors: Authors): Promise<void> {
  const { random, cid, createText, deeds } = authors;
  const first = createText();
  const endsAt = chooseEnd(random);
  const message = { id: first, cid, body: first, ...expiring(endsAt) };
  const sent = await callAs(authors)<Ask>("POST", "/admin/message", { message });
  if (isTooLate(endsAt, sent)) return;
  expectStatus(sent, 201);
  const id = sent.body.ask.server_mid;
  const written: Written = { id, texts: [first], isInDoubt: false, isGone: false };
  deeds.written.push(written);
  await change(authors, written, endsAt !== undefined);
  if (endsAt === undefined) return;
  await untilExpired(endsAt);
  written.isGone = true;
}

async function change(authors: Authors, written: Written, expires: boolean): Promise<void> {
  const { random, cid, createText, losesTail } = authors;
  const { id } = written;
  const call = callAs(authors);
  const isLost = ({ status }: { status: number }) => (losesTail || expires) && status === 404;
  for (let edits = random.integer(0, mostEdits); edits > 0; edits -= 1) {
    await pause(random);
    const body = createText();
    const edited = await call<Done>("PUT", "/admin/message", { messageEdit: { id, body } });
    if (isLost(edited)) return;
    expectStatus(edited, 200);
    written.texts.push(body);
    if (edited.failures > 0) written.isInDoubt = true;
  }
  if (random.next() < 0.5)
    expectStatus(await call<Done>("PUT", "/admin/message/read", { senderId: reader, messageRead: { cid } }), 200);
  if (random.next() < 0.5) return;
  await pause(random);
  const recalled = await call<Done>("DELETE", "/admin/message", { messageDelete: { cid, ids: [id], type: "all" } });
  if (isLost(recalled)) return;
  // After an answer that was lost, it is gone already.
  expectStatus(recalled, recalled.failures > 0 && recalled.status === 404 ? 404 : 200);
  written.isGone = true;
}

/** Sends a system message that inboxes keep; some replace others, some expire, and some are taken back. */
export async function notify(authors: Authors): Promise<void> {
  const { random, cid, createText, losesTail, deeds } = authors;
  const call = callAs(authors);
  const id = createText();
  const key = random.next() < 0.4 ? random.pick(["one", "two"]) : undefined;
  const endsAt = chooseEnd(random);
  const address = random.pick([{ uids: [reader, author] }, { cid }, { everyone: true }]);
  const messageSystem = { id, ...address, keep_days: 1, ...(key !== undefined && { key }), ...expiring(endsAt) };
  const sent = await call<Ack>("POST", "/admin/message/system", { messageSystem });
  if (isTooLate(endsAt, sent)) return;
  expectStatus(sent, 201);
  const notice = { id, key, isGone: false };
  deeds.notices.push(notice);
  await pause(random);
  if (random.next() < 0.3) {
    const messageSystemDelete = { ids: [id] };
    const recalled = await call<Done>("DELETE", "/admin/message/system", { messageSystemDelete });
    const mayBeGone = recalled.failures > 0 || endsAt !== undefined || losesTail;
    expectStatus(recalled, mayBeGone && recalled.status === 404 ? 404 : 200);
    notice.isGone = true;
  } else if (endsAt !== undefined) {
    await untilExpired(endsAt);
    notice.isGone = true;
  }
}

/** Sends a batch, to one node after another, until all its lines are answered by one. */
export async function sendLines({ nodes, random, org, cid, createText, deeds }: Authors): Promise<void> {
  const texts = Array.from({ length: random.integer(1, mostLines) }, createText);
  const lines = texts.map((body) => ({ organizationId: org, senderId: author, message: { id: body, cid, body } }));
  for (;;) {
    const node = random.pick(nodes);
    if (node.isRunning() && random.next() < 0.3)
      await hangUp(node, lines.slice(0, random.integer(1, lines.length))).catch(() => undefined);
    const seen = node.isRunning() ? await sendBatch(node.herald, lines).catch(() => undefined) : undefined;
    const stored = seen?.answers.filter(({ status }) => status === 201) ?? [];
    if (stored.length === texts.length) break;
    await pause(random);
  }
  deeds.batched.push(...texts);
}

/** Sends lines and hangs up after the first answer. */
async function hangUp({ herald }: ClusterNode, lines: object[]): Promise<void> {
  const batch = await openBatch(herald);
  batch.write(...lines);
  await within(batch.next(), "the first answer of a batch").finally(batch.leave);
}

/** Schedules a send, and cancels it at about the time when it is due. */
export async function schedule(authors: Authors): Promise<void> {
  const { random, org, cid, createText, deeds } = authors;
  const text = createText();
  const path = `/admin/organizations/${encodeURIComponent(org)}/scheduled/${encodeURIComponent(text)}`;
  const sendAt = Date.now() + random.integer(0, mostAheadMs);
  const request = { organizationId: org, senderId: author, message: { cid, body: text } };
  const put = await callUntilAnswered<ScheduledSend>(authors, "PUT", path, {
    send_at: new Date(sendAt).toISOString(),
    request,
  });
  expectStatus(put, put.status === 200 ? 200 : 201);
  const scheduled = { id: text, text, isCancelled: false };
  deeds.scheduled.push(scheduled);
  if (random.next() < 0.5) return;
  await Bun.sleep(Math.max(0, sendAt - Date.now() + random.integer(-100, 100)));
  const { status } = await callUntilAnswered(authors, "DELETE", path);
  scheduled.isCancelled = status === 204;
}

function expectStatus({ status, text }: { status: number; text: string }, expected: number): void {
  if (status !== expected) throw new Error(`a change was answered ${status}, not ${expected}: ${text}`);
}
