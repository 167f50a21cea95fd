import { hkdfSync, randomBytes } from "node:crypto";
import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { absent } from "../../contract/errors/naming.ts";
import { toIso } from "../../contract/identifiers.ts";
import { hasScope } from "../../contract/keys/reach.ts";
import type { SessionShown } from "../../contract/people/sessions.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import { gatherMs, rowsOfStatement } from "../../lib/queues/steps.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { PersonSession, PersonSessions as StoredSessions } from "../../store/people/ports.ts";
import { type Caller, permitRevocation, unrestricted } from "../keys/permissions.ts";
import { createLongBodies } from "../limits/long-bodies.ts";
import type { Refusals } from "../limits/refusals.ts";
import { type Page, type PageQuery, pageOf } from "../pages.ts";
import { callerOf, organizationsOf, type Principal, principalId, scopesOf } from "./principals.ts";

/** The sessions of people who signed in, on all nodes. */
export type PersonSessions = ReturnType<typeof createPersonSessions>;

type Options = {
  personSessions: StoredSessions;
  /** The server's secret, the same on every node. */
  secret: string;
  refusals: Refusals;
  clock: Clock;
  elapsed: SteadyClock;
  onError(error: unknown): void;
};

const lifetimeMs = 12 * 3600_000;
const mostOfPerson = 50;
const maxWaiting = 1_000;
const secretForm = /^[\w-]{43}$/; // 32 bytes

/**
 * Creates the sessions on the store. The store is asked for each call, in one query at a time for all that wait: so a session
 * that was ended on any node is refused from then on by all of them.
 */
export function createPersonSessions(options: Options) {
  const { personSessions: stored, refusals, clock, elapsed, onError } = options;
  const pepper = Buffer.from(hkdfSync("sha256", options.secret, "", "herald sessions of people", 32));
  const digestOf = (secret: string) => new Bun.CryptoHasher("sha256", pepper).update(secret).digest("base64url");
  const longBodies = createLongBodies({ clock: elapsed });

  const lookups = createBatcher<string, PersonSession | undefined>({
    async flush(digests) {
      await Bun.sleep(gatherMs);
      const found = await stored.find(digests, clock.now());
      const byDigest = new Map(found.map((session) => [session.digest, session]));
      return digests.map((digest) => byDigest.get(digest));
    },
    maxBatch: rowsOfStatement,
    maxWaiting,
    whenFull: () => unavailable({ detail: "too many calls with sessions are waiting; try again" }),
  });

  async function find(secret: string): Promise<PersonSession | undefined> {
    try {
      return await lookups.add(digestOf(secret));
    } catch (error) {
      if (error instanceof HeraldError) throw error;
      onError(error);
      throw unavailable({ detail: "the database that stores the sessions does not respond; try again" });
    }
  }

  return {
    /** Begins a session of 12 hours. Of more than 50 sessions of a person, the oldest end. */
    async begin(principal: Omit<Principal, "session" | "expiresAt">, address: string | undefined) {
      const { subject, name, roles } = principal;
      const now = clock.now();
      const secret = randomBytes(32).toString("base64url");
      const session = { id: createId(), createdAt: now, expiresAt: now + lifetimeMs };
      const row = { ...session, digest: digestOf(secret), subject, name, roles: [...roles], address: address ?? null };
      await stored.create(row, mostOfPerson);
      return { secret, lifetimeSeconds: lifetimeMs / 1000, caller: toCaller(row) };
    },
    /**
     * Identifies the person whose session has this secret. Throws `unauthorized`, or `rate_limited` instead if too many from that
     * address were refused; `unavailable` if the store cannot be asked, or for too many long bodies at once.
     */
    async identify(secret: string, address: string, hasLongBody: boolean): Promise<Caller> {
      if (hasLongBody) longBodies.admit(address);
      const session = secretForm.test(secret) ? await find(secret) : undefined;
      if (session !== undefined) return toCaller(session);
      refusals.admit(address);
      refusals.note(address);
      throw new HeraldError("unauthorized", "the session has ended; sign in again", {
        headers: { "WWW-Authenticate": "Admin-Api-Key" },
      });
    },
    list: (query: PageQuery): Promise<Page<SessionShown>> =>
      pageOf(query, (page) => stored.list(page, clock.now()), show),
    /**
     * Ends a session: one of the caller's own or, like `permitRevocation`, one that may do no more than the caller. Throws
     * `not_found`, even for sessions hidden from the caller.
     */
    async end(caller: Caller, id: string): Promise<void> {
      const session = await stored.get(id, clock.now());
      const isOwn = session !== undefined && principalId(session.subject) === caller.keyId;
      const maySee = isOwn || (hasScope(caller.rights.scopes, "keys:manage") && caller.rights.org === null);
      if (session === undefined || !maySee) throw absent("session", id);
      if (!isOwn) permitRevocation(caller, { ...unrestricted, scopes: scopesOf(session.roles), id });
      await stored.remove(id);
    },
  };
}

function toCaller({ id, subject, name, roles, expiresAt }: PersonSession): Caller {
  // Who has signed in may do so again: a key that such a person makes need not end with the session.
  return callerOf({ subject, name, roles, expiresAt: null, session: { id, expiresAt } });
}

function show({ id, subject, name, roles, address, createdAt, expiresAt }: PersonSession): SessionShown {
  return {
    id,
    person: name,
    key_id: principalId(subject),
    scopes: scopesOf(roles),
    organizations: organizationsOf(roles),
    address,
    created_at: toIso(createdAt),
    expires_at: toIso(expiresAt),
  };
}
