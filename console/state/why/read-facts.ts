import type { AdminClient } from "../../../sdk/admin/admin.ts";
import { HeraldApiError } from "../../../sdk/errors.ts";
import type { Scope } from "../../../src/contract/keys/scopes.ts";
import { type Report, readDelivery, type SentId } from "../delivery.ts";
import type { Facts } from "./explain.ts";

const mostRead = 1_000;

/** A user who may not have a send. `report` is read if it is not given; so is whether it was addressed to the user, unless `isMissing`. */
export type Question = { org: string; uid: string; sent: SentId; report?: Report | undefined; isMissing: boolean };

type Reader = { client: AdminClient; can(scope: Scope): boolean };

/** Reads what tells why a user does not have a send, as far as the key may read it. */
export async function readFacts({ client, can }: Reader, question: Question): Promise<Facts> {
  const { org, uid, sent } = question;
  const report = question.report ?? (await readDelivery(client, org, sent));
  const { said, recalled_at, expired_at, isKept } = report;
  const { cid } = said;
  const at = said.created_at ?? new Date(said.t * 1_000).toISOString();
  const [user, connections, [isParticipant, removal], state, webhook] = await Promise.all([
    can("directory:read") ? orGone(client.getUser(org, uid)) : undefined,
    can("observe") ? orGone(client.listConnections(org, uid)) : undefined,
    takesPart({ client, can }, { org, cid, uid }),
    stateOf(client, question, report, at),
    can("webhooks:manage") ? findFailing(client, org, sent.kind) : undefined,
  ]);
  return {
    uid,
    sent: { kind: sent.kind, from: said.from, at, cid, isKept, recalledAt: recalled_at, expiredAt: expired_at },
    state,
    user:
      user === undefined || user === "gone" ? user : { createdAt: user.created_at, isBlocked: user.blocked === true },
    isParticipant,
    removal,
    connections: connections === "gone" ? undefined : connections,
    webhook,
  };
}

async function orGone<Value>(read: Promise<Value>): Promise<Value | "gone"> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof HeraldApiError && error.code === "user_not_found") return "gone";
    throw error;
  }
}

type Place = { org: string; cid: string | undefined; uid: string };

/** Whether a user takes part now, and if not, how they were removed last. */
async function takesPart(
  { client, can }: Reader,
  { org, cid, uid }: Place,
): Promise<[isParticipant: boolean | undefined, removal?: Facts["removal"]]> {
  if (cid === undefined || !can("directory:read")) return [undefined];
  const isParticipant = await isIn(client, org, cid, uid);
  if (isParticipant !== false || !can("observe")) return [isParticipant];
  const filter = { organization: org, operation: "deleteParticipant", result: "done", limit: mostRead } as const;
  const { items } = await client.listAudit(filter);
  const found = items.find(({ target }) => target.user === uid && target.conversation === cid);
  if (found === undefined) return [false];
  const { created_at, person, key_id } = found;
  return [false, { at: created_at, by: person ?? (key_id === null ? "nobody" : `the key ${key_id}`) }];
}

/** Whether a user takes part now; `undefined` if there are more participants than one page, or there is no conversation any more. */
async function isIn(client: AdminClient, org: string, cid: string, uid: string): Promise<boolean | undefined> {
  try {
    const { items, cursor } = await client.listParticipants(org, cid, { limit: mostRead });
    if (items.some(({ id }) => id === uid)) return true;
    return cursor === null ? false : undefined;
  } catch (error) {
    if (error instanceof HeraldApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** Looks among what was addressed to the user, the newest first. */
async function stateOf(
  client: AdminClient,
  { org, uid, sent, isMissing }: Question,
  { said, by_user }: Report,
  at: string,
): Promise<Facts["state"]> {
  if (by_user?.[uid] === "unknown") return "not_addressed";
  if (isMissing) return "missing";
  const page = await orGone(client.listDeliveries(org, uid, { limit: mostRead }));
  if (page === "gone") return undefined;
  const found = page.items.find((item) => item.kind === sent.kind && item.id === sent.id && item.from === said.from);
  if (found !== undefined) return found.state === "missing" ? "missing" : "has_it";
  const oldest = page.items.at(-1)?.t ?? Number.POSITIVE_INFINITY;
  const isRead = page.cursor === null || oldest * 1_000 < Date.parse(at) - 1_000;
  return isRead ? "not_addressed" : undefined;
}

/** A webhook that should tell who was not reached, but fails. */
async function findFailing(client: AdminClient, org: string, kind: SentId["kind"]): Promise<Facts["webhook"]> {
  const { items } = await client.listWebhooks(org, { limit: mostRead });
  for (const { id, events, failing, disabled_at } of items) {
    const since = disabled_at ?? failing?.since;
    if (since !== undefined && events.includes(`${kind}.unreached`)) return { id, since };
  }
  return undefined;
}
