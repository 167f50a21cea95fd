import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openKeys } from "../../test/harness/servers/keyring.ts";
import { unavailable } from "../contract/errors/errors.ts";
import { withoutCredentials } from "../contract/keys/redaction.ts";
import type { AuditEntry, AuditLog } from "../store/audit/ports.ts";
import { entryAt } from "../store/testing/audit-suite.ts";
import { type Audit, type AuditedCall, createAudit } from "./audit.ts";
import { type Caller, unrestricted } from "./keys/permissions.ts";

const admin: Caller = { keyId: "k1", rights: unrestricted, secretExpiresAt: undefined, digest: undefined };

/** A refused call with this key; `null` for none. */
function refusal(caller: Caller | null = admin): AuditedCall {
  return {
    requestId: "r",
    operation: "putUser",
    caller: caller ?? undefined,
    address: "192.0.2.1",
    target: { organization: "o1" },
    status: 403,
    code: "insufficient_scope",
  };
}

describe("the audit log of a node", () => {
  let context: Awaited<ReturnType<typeof openKeys>>;
  let audit: Audit;
  let link: { isCut: boolean };

  beforeEach(async () => {
    context = await openKeys();
    link = { isCut: false };
    const { store, time, errors } = context;
    const append: AuditLog["append"] = (entries) =>
      link.isCut ? Promise.reject(unavailable()) : store.audit.append(entries);
    audit = createAudit({
      redact: withoutCredentials,
      audit: { ...store.audit, append },
      organizations: store.organizations,
      clock: { now: () => time.now },
      elapsed: { now: () => time.elapsed },
      keepDays: 30,
      settleMs: 2_000,
      onError: (error) => void errors.push(error),
    });
  });
  afterEach(() => context[Symbol.asyncDispose]());

  const stored = () => context.store.audit.read({ from: undefined, before: undefined, of: undefined, limit: 10_000 });
  const omissions = async () => (await stored()).map(({ omitted }) => omitted).filter((omitted) => omitted > 0);

  test("records a limited number of refusals per key, says how many it left out, and records those of other keys besides", async () => {
    for (let count = 0; count < 1_000; count++) audit.note(refusal());
    await audit.stop();
    expect(await stored()).toHaveLength(200);
    audit.note(refusal({ ...admin, keyId: "k2" }));
    await audit.stop();
    expect(await omissions()).toEqual([800]);
    context.time.elapsed += 3_000;
    for (let count = 0; count < 1_000; count++) audit.note(refusal());
    await audit.stop();
    expect(await stored()).toHaveLength(204);
  });

  test("counts all callers without a key as one, wherever they call from", async () => {
    for (let count = 0; count < 1_000; count++) audit.note({ ...refusal(null), address: `192.0.2.${count % 250}` });
    audit.note(refusal());
    await audit.stop();
    expect((await stored()).map(({ keyId }) => keyId).filter((keyId) => keyId === null)).toHaveLength(200);
    expect((await stored()).filter(({ keyId }) => keyId === "k1")).toHaveLength(1);
  });

  test("while the store is away, reports that a change was not recorded, and later how many refusals are missing", async () => {
    link.isCut = true;
    await expect(audit.record({ ...refusal(), status: 200, code: undefined })).rejects.toMatchObject({
      code: "unavailable",
    });
    for (let count = 0; count < 5; count++) audit.note(refusal());
    await audit.stop();
    link.isCut = false;
    await audit.record({ ...refusal(), status: 200, code: undefined });
    audit.note(refusal());
    await audit.stop();
    expect((await stored()).map(({ status, omitted }) => [status, omitted])).toEqual([
      [403, 5],
      [200, 0],
    ]);
    expect(context.errors).toEqual([]);
  });

  test("looks for a rare entry a bounded number of entries at a time, and eventually finds it", async () => {
    const entries: AuditEntry[] = Array.from({ length: 12_000 }, (_, index) => entryAt(1_000 + index));
    const [first, ...others] = entries;
    if (first === undefined) throw new Error("there are entries");
    await context.store.audit.append([{ ...first, status: 418 }, ...others]);
    const page = await audit.list(admin, { limit: 100, status: 418 });
    expect(page.items).toEqual([]);
    const next = await audit.list(admin, {
      limit: 100,
      status: 418,
      ...(page.cursor !== null && { cursor: page.cursor }),
    });
    expect(next).toMatchObject({ items: [{ id: first.id }], cursor: null });
  });

  test("shows the times of its entries, and includes an entry at exactly the requested start", async () => {
    context.time.now = Date.UTC(2026, 0, 1, 12);
    await audit.record(refusal());
    const at = "2026-01-01T12:00:00.000Z";
    expect((await audit.list(admin, { limit: 1, since: at })).items).toMatchObject([{ created_at: at }]);
    expect((await audit.list(admin, { limit: 1, until: at })).items).toEqual([]);
  });
});
