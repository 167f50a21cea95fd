import { describe, expect, test } from "bun:test";
import { openKeys } from "../../../test/harness/servers/keyring.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { CreateKeyRequest } from "../../contract/keys/keys.ts";

type Wanted = Partial<CreateKeyRequest>;

const inAnHour = toIso(Date.UTC(2026, 10, 20, 1));
const inTwoHours = toIso(Date.UTC(2026, 10, 20, 2));

/** The caller's key, and a request that is granted. */
const granted: [what: string, own: Wanted, wanted: Wanted][] = [
  ["everything of everything", {}, {}],
  ["a scope that it has", { scopes: ["keys:manage", "observe"] }, { scopes: ["observe"] }],
  ["itself over again", { scopes: ["keys:manage", "observe"] }, { scopes: ["observe", "keys:manage"] }],
  ["its organization", { organization: "o1" }, { organization: "o1" }],
  ["one organization of all", {}, { organization: "o2" }],
  ["some of its senders", { allowed_senders: ["a", "b"] }, { allowed_senders: ["b"] }],
  ["a part of its network", { cidrs: ["10.0.0.0/8"] }, { cidrs: ["10.1.0.0/16"] }],
  ["an earlier end", { expires_at: inTwoHours }, { expires_at: inAnHour }],
];

/** The caller's key, a request, and the code it is refused with. */
const refused: [what: string, own: Wanted, wanted: Wanted, code: string][] = [
  ["a scope that it has not", { scopes: ["keys:manage"] }, { scopes: ["message:send"] }, "insufficient_scope"],
  ["all scopes by naming them all but one", { scopes: ["keys:manage"] }, { scopes: ["*"] }, "insufficient_scope"],
  ["another organization", { organization: "o1" }, { organization: "o2" }, "organization_forbidden"],
  ["one that is not there", { organization: "o1" }, { organization: "o9" }, "organization_forbidden"],
  ["all organizations", { organization: "o1" }, { organization: null }, "organization_forbidden"],
  ["a sender more", { allowed_senders: ["a"] }, { allowed_senders: ["a", "b"] }, "sender_forbidden"],
  ["any sender", { allowed_senders: ["a"] }, { allowed_senders: null }, "sender_forbidden"],
  ["a wider network", { cidrs: ["10.1.0.0/16"] }, { cidrs: ["10.0.0.0/8"] }, "insufficient_scope"],
  ["one network more", { cidrs: ["10.0.0.0/8"] }, { cidrs: ["10.0.0.0/8", "::/0"] }, "insufficient_scope"],
  ["any network", { cidrs: ["10.0.0.0/8"] }, { cidrs: null }, "insufficient_scope"],
  ["a later end", { expires_at: inAnHour }, { expires_at: inTwoHours }, "insufficient_scope"],
  ["no end", { expires_at: inAnHour }, { expires_at: null }, "insufficient_scope"],
];

describe("a key that manages keys", () => {
  /** Opens a caller with a key of its own, and the number of keys. */
  async function open(own: Wanted) {
    const context = await openKeys();
    const { key } = await context.create({ scopes: ["*"], ...own });
    const caller = await context.authenticate(key, "10.1.0.1");
    const count = async () => (await context.keys.list(context.admin, { limit: 10 })).items.length;
    return { ...context, caller, count };
  }

  test.each(granted)("creates one with %s", async (_what, own, wanted) => {
    await using context = await open(own);
    const made = await context.keys.create(context.caller, { name: "made", scopes: ["keys:manage"], ...wanted });
    expect(made).toMatchObject({ name: "made", ...wanted });
    expect(await context.count()).toBe(2);
  });

  test.each(refused)("may not create one with %s", async (_what, own, wanted, code) => {
    await using context = await open(own);
    const made = context.keys.create(context.caller, { name: "made", scopes: ["keys:manage"], ...wanted });
    await expect(made).rejects.toMatchObject({ code });
    expect(await context.count()).toBe(1);
  });

  test.each(granted)("rotates one with %s, and gets its secret", async (_what, own, wanted) => {
    await using context = await open(own);
    const target = await context.create({ scopes: ["keys:manage"], ...inheritedFrom(own), ...wanted });
    const { key } = await context.keys.rotate(context.caller, target.id, 60);
    expect(key).not.toBe(target.key);
    const endAt = expect.any(Number);
    expect(await context.ask(target.key, "10.1.0.1")).toMatchObject({ secretExpiresAt: endAt });
  });

  test.each(refused.filter(([, , wanted]) => wanted.organization !== "o9"))(
    "may not rotate one with %s, which would hand it that key's secret",
    async (_what, own, wanted, code) => {
      await using context = await open(own);
      const target = await context.create({ scopes: ["keys:manage"], ...inheritedFrom(own), ...wanted });
      const rotated = context.keys.rotate(context.caller, target.id, 60);
      await expect(rotated).rejects.toMatchObject({ code: code === "organization_forbidden" ? "not_found" : code });
      expect(await context.ask(target.key, "10.1.0.1")).toMatchObject({ secretExpiresAt: undefined });
    },
  );

  test("hands on its own rights where the request omits them", async () => {
    await using context = await openKeys();
    const own = { organization: "o1", allowed_senders: ["a"], cidrs: ["10.0.0.0/8"], expires_at: inAnHour };
    const { key } = await context.create(own);
    const caller = await context.authenticate(key, "10.0.0.1");
    expect(await context.keys.create(caller, { name: "n", scopes: ["observe"] })).toMatchObject(own);
  });

  test("bound to an organization neither sees, rotates nor revokes keys of others", async () => {
    await using context = await openKeys();
    const bound = await context.create({ organization: "o1" });
    const caller = await context.authenticate(bound.key, "");
    const free = await context.create();
    const other = await context.create({ organization: "o2" });
    expect((await context.keys.list(caller, { limit: 10 })).items.map(({ id }) => id)).toEqual([bound.id]);
    for (const id of [free.id, other.id, "nobody's", "bootstrap"]) {
      await expect(context.keys.get(caller, id)).rejects.toMatchObject({ code: "not_found" });
      await expect(context.keys.rotate(caller, id, 0)).rejects.toMatchObject({ code: "not_found" });
      await expect(context.keys.revoke(caller, id)).rejects.toMatchObject({ code: "not_found" });
    }
    for (const { key, id } of [free, other]) expect(await context.ask(key)).toMatchObject({ keyId: id });
    await context.keys.revoke(caller, bound.id);
    expect(await context.ask(bound.key)).toBe("unauthorized");
  });

  test.each(granted)("revokes one with %s", async (_what, own, wanted) => {
    await using context = await open(own);
    const target = await context.create({ scopes: ["keys:manage"], ...inheritedFrom(own), ...wanted });
    await context.keys.revoke(context.caller, target.id);
    expect(await context.ask(target.key, "10.1.0.1")).toBe("unauthorized");
  });

  const reaching = refused.filter(([, own, wanted]) => wanted.organization !== "o9" && own.expires_at === undefined);
  test.each(reaching)("may not revoke one with %s, and so lock its user out", async (_what, own, wanted, code) => {
    await using context = await open(own);
    const target = await context.create({ scopes: ["keys:manage"], ...inheritedFrom(own), ...wanted });
    const revoked = context.keys.revoke(context.caller, target.id);
    await expect(revoked).rejects.toMatchObject({ code: code === "organization_forbidden" ? "not_found" : code });
    expect(await context.ask(target.key, "10.1.0.1")).toMatchObject({ keyId: target.id });
  });

  test("revokes one that lives longer, and itself with an old secret", async () => {
    await using context = await openKeys();
    const brief = await context.create({ expires_at: inAnHour });
    const lasting = await context.create();
    const caller = await context.authenticate(brief.key, "");
    await context.keys.revoke(caller, lasting.id);
    expect(await context.ask(lasting.key)).toBe("unauthorized");
    await context.keys.rotate(context.admin, brief.id, 60);
    await context.keys.revoke(await context.authenticate(brief.key, ""), brief.id);
    expect(await context.ask(brief.key)).toBe("unauthorized");
  });

  test("that another node has revoked rotates neither another key nor the bootstrap key", async () => {
    await using context = await openKeys();
    const [revoked, target] = [await context.create(), await context.create()];
    const { keys, authenticate } = context.startNode();
    const caller = await authenticate(revoked.key, "");
    // The server has its bootstrap key from a setting, and says so to whoever may rotate it.
    await expect(keys.rotate(caller, "bootstrap", 0)).rejects.toMatchObject({ code: "bad_request" });
    await context.keys.revoke(context.admin, revoked.id);
    for (const id of [target.id, "bootstrap"])
      await expect(keys.rotate(caller, id, 0)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("creates none that has already expired, and none for a missing organization", async () => {
    await using context = await openKeys();
    await expect(context.create({ expires_at: toIso(context.time.now) })).rejects.toMatchObject({
      code: "invalid_request",
      fields: [{ pointer: "/expires_at", detail: "must be in the future" }],
    });
    await expect(context.create({ organization: "o9" })).rejects.toMatchObject({ code: "organization_not_found" });
  });
});

/** The rights of a key created by one with `own` if the request asks for nothing else. */
function inheritedFrom({ scopes: _, ...own }: Wanted): Wanted {
  return own;
}
