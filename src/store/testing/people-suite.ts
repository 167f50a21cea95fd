import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { PersonSession } from "../people/ports.ts";
import { type OpenDatabase, useStore } from "./log-suite.ts";

const now = 1_000_000;

/** A session that begins at a time and lasts 100 ms. */
function sessionAt(createdAt: number, change: Partial<PersonSession> = {}): PersonSession {
  const id = createId(createdAt);
  const roles = [{ scopes: ["observe" as const], organizations: ["o1"] }, { scopes: ["*" as const] }];
  const fixed = { digest: `digest of ${id}`, subject: "ada", name: "Ada 🙂", roles, address: null };
  return { id, createdAt, expiresAt: createdAt + 100, ...fixed, ...change };
}

/** Tests the port `PersonSessions`, for every engine. */
export function describePersonSessions(engine: string, open: OpenDatabase): void {
  describe(`sessions of people on ${engine}`, () => {
    const context = useStore(open);

    test("are found as they were created, by digest and id, until they expire or are removed", async () => {
      const { personSessions } = context.store;
      const [one, other] = [sessionAt(now), sessionAt(now + 1, { subject: "bob", address: "192.0.2.1" })];
      for (const session of [one, other]) await personSessions.create(session, 5);
      const find = (at: number) => personSessions.find([one.digest, "unknown", other.digest], at);
      expect(new Set(await find(now + 1))).toEqual(new Set([one, other]));
      expect(await find(now + 100)).toEqual([other]);
      expect(await personSessions.get(one.id, now + 99)).toEqual(one);
      expect(await personSessions.get(one.id, now + 100)).toBeUndefined();
      expect(await personSessions.list({ after: undefined, limit: 1 }, now + 1)).toEqual([one]);
      expect(await personSessions.list({ after: one.id, limit: 5 }, now + 1)).toEqual([other]);
      expect([await personSessions.remove(other.id), await personSessions.remove(other.id)]).toEqual([true, false]);
      expect(await find(now + 100)).toEqual([]);
    });

    test("of one person beyond the maximum end, the oldest first", async () => {
      const { personSessions } = context.store;
      const sessions = [0, 1, 2].map((later) => sessionAt(now + later, { subject: "carol" }));
      const bystander = sessionAt(now, { subject: "dan" });
      for (const session of [bystander, ...sessions]) await personSessions.create(session, 2);
      const left = await personSessions.find(
        [bystander, ...sessions].map(({ digest }) => digest),
        now + 2,
      );
      expect(new Set(left)).toEqual(new Set([bystander, ...sessions.slice(1)]));
    });

    test("that have expired are removed by retention", async () => {
      const { personSessions, retention } = context.store;
      const session = sessionAt(now, { subject: "erin" });
      await personSessions.create(session, 2);
      const keep = { messagesBefore: undefined, readsBefore: undefined, idsBefore: undefined, auditBefore: undefined };
      const order = {
        ...keep,
        revocationsBefore: undefined,
        deletedBefore: 0,
        holder: "n",
        leaseMs: 1_000,
        limit: 100,
      };
      const removeAll = async (at: number) => {
        while ((await retention.step({ ...order, now: at })) !== 0);
      };
      await removeAll(session.expiresAt);
      expect(await personSessions.get(session.id, now)).toEqual(session);
      await removeAll(session.expiresAt + 1);
      expect(await personSessions.get(session.id, now)).toBeUndefined();
    });
  });
}
