import { describe, expect, test } from "bun:test";
import { bootstrapKey, openKeys } from "../../../test/harness/servers/keyring.ts";
import { toIso } from "../../contract/identifiers.ts";
import { createApiKey } from "../../contract/keys/api-key.ts";
import type { ApiKeyWithSecret } from "../../contract/keys/keys.ts";

const idOf = (answer: unknown) => (typeof answer === "string" ? answer : (answer as { keyId: string }).keyId);

describe("a key", () => {
  test("known to the node is answered at once, without the store", async () => {
    await using context = await openKeys();
    const { key, id } = await context.create();
    context.link.asked.length = 0;
    for (let count = 0; count < 100; count++) {
      const caller = context.authenticate(key, "");
      expect(caller).not.toBeInstanceOf(Promise);
      expect(idOf(caller)).toBe(id);
    }
    expect(context.link.asked).toEqual([]);
  });

  test("created or rotated on another node works here with the first call", async () => {
    await using context = await openKeys();
    const other = context.startNode();
    const { key, id } = await context.create();
    expect(idOf(await other.ask(key))).toBe(id);
    const rotated = await context.keys.rotate(context.admin, id, 60);
    expect(idOf(await other.ask(rotated.key))).toBe(id);
  });

  test("is refused from the moment it expires", async () => {
    await using context = await openKeys();
    const { key, id } = await context.create({ expires_at: toIso(context.time.now + 1_000) });
    context.time.now += 999;
    expect(idOf(await context.ask(key))).toBe(id);
    context.time.now += 1;
    expect(await context.ask(key)).toBe("unauthorized");
  });

  test("bound to networks is refused from elsewhere and from an unknown address", async () => {
    await using context = await openKeys();
    const { key, id } = await context.create({ cidrs: ["10.0.0.0/8", "2001:db8::/32"] });
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::7"])
      expect(idOf(await context.ask(key, address))).toBe(id);
    for (const address of ["11.0.0.1", "2001:db9::7", "::1", ""])
      expect(await context.ask(key, address)).toBe("unauthorized");
  });

  test("is refused in one way, after one question to the store, whatever is wrong with it", async () => {
    await using context = await openKeys();
    const { key } = await context.create();
    const revoked = await context.create();
    await context.keys.revoke(context.admin, revoked.id);
    const expired = await context.create({ expires_at: toIso(context.time.now + 1_000) });
    context.time.now += 1_000;
    const elsewhere = await context.create({ cidrs: ["10.0.0.0/8"] });
    const wrong = {
      missing: null,
      empty: "",
      malformed: "hk_nonsense",
      typo: `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`,
      unknown: createApiKey().key,
      "of a known id with another secret": createApiKey(sliceId(key)).key,
      revoked: revoked.key,
      expired: expired.key,
      "from another network": elsewhere.key,
      "nearly the bootstrap key": `${bootstrapKey}x`,
    };
    for (const [what, text] of Object.entries(wrong)) {
      context.link.asked.length = 0;
      const refusal = await Promise.resolve(context.authenticate(text, "192.0.2.1")).catch((error) => error);
      expect({ what, asked: context.link.asked.length }).toEqual({ what, asked: 1 });
      const { code, message, headers } = refusal;
      expect({ what, code, message, headers }).toEqual({
        what,
        code: "unauthorized",
        message: "send a valid API key in the header `Admin-Api-Key`",
        headers: { "WWW-Authenticate": "Admin-Api-Key" },
      });
    }
  });

  test("with a typo is not looked up", async () => {
    await using context = await openKeys();
    const { key } = await context.create();
    const latest = await context.create();
    context.link.asked.length = 0;
    await context.ask(`${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`);
    expect(context.link.asked).toEqual([[latest.id]]); // always included: it shows that nothing was lost
  });

  test("that is unknown cannot overload the store: a thousand at once cost two questions", async () => {
    await using context = await openKeys();
    context.link.asked.length = 0;
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => context.ask(createApiKey().key)));
    expect(new Set(answers)).toEqual(new Set(["unauthorized"]));
    expect(context.link.asked.length).toBeLessThanOrEqual(2);
  });

  test("that is valid is accepted by a node that never saw it, however many were refused at that address", async () => {
    await using context = await openKeys({ refusals: { perSecond: 1, burst: 10 } });
    const other = context.startNode();
    const { key, id } = await context.create();
    const refused = new Set<unknown>();
    for (let count = 0; count < 20; count++) refused.add(await other.ask(createApiKey().key));
    expect(refused).toEqual(new Set(["unauthorized", "rate_limited"]));
    expect(await other.ask("nonsense")).toBe("rate_limited");
    const flood = Array.from({ length: 1_000 }, () => other.ask(createApiKey().key));
    expect(idOf(await other.ask(key))).toBe(id);
    expect(new Set(await Promise.all(flood))).toEqual(new Set(["rate_limited"]));
    context.time.elapsed += 4_000; // nothing this node knew is trusted any more
    expect(idOf(await other.ask(key))).toBe(id);
  });

  test("that this node does not know is looked up for 16 long bodies from an address, and 50 more per second", async () => {
    await using context = await openKeys();
    const { key, id } = await context.create();
    const other = context.startNode();
    const ask = (text: string | null, address: string) => other.ask(text, address, true);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => ask(index % 2 === 0 ? null : createApiKey().key, "192.0.2.1")),
    );
    expect(answers).toEqual([...Array(16).fill("unauthorized"), ...Array(4).fill("unavailable")]);
    expect(await ask(null, "192.0.2.2")).toBe("unauthorized");
    expect(idOf(await ask(key, "192.0.2.1"))).toBe(id); // known, though nobody asked for it
    context.time.elapsed += 20;
    expect([await ask(null, "192.0.2.1"), await ask(null, "192.0.2.1")]).toEqual(["unauthorized", "unavailable"]);
  });

  test("of the latest thousand changes, and of any since, is known before its first call", async () => {
    await using context = await openKeys();
    const keys = [await context.create(), await context.create()];
    const other = context.startNode();
    await other.cache.refresh();
    keys.push(await context.create());
    await other.cache.refresh();
    for (const { key, id } of keys) expect(idOf(other.authenticate(key, ""))).toBe(id);
  });

  test("is recorded as used when accepted, and not when refused", async () => {
    await using context = await openKeys();
    const [used, unused] = [await context.create(), await context.create({ cidrs: ["10.0.0.0/8"] })];
    await context.ask(used.key);
    await context.ask(unused.key);
    context.time.now += 5_000;
    await context.usage.flush();
    const at = toIso(context.time.now);
    expect((await context.keys.get(context.admin, used.id)).last_used_at).toBe(at);
    expect((await context.keys.get(context.admin, unused.id)).last_used_at).toBeNull();
    context.time.now += 5_000;
    await context.usage.flush();
    expect((await context.keys.get(context.admin, used.id)).last_used_at).toBe(at);
  });
});

describe("a revocation", () => {
  test("takes effect at once where it was made, and elsewhere with the next question to the store", async () => {
    await using context = await openKeys();
    const other = context.startNode();
    const { key, id } = await context.create();
    await other.ask(key);
    await context.keys.revoke(context.admin, id);
    expect(await context.ask(key)).toBe("unauthorized");
    await other.cache.refresh();
    expect(other.cache.get(id)).toBeUndefined();
    expect(await other.ask(key)).toBe("unauthorized");
  });

  for (const changesSince of [1, 2, 3, 4])
    test(`takes effect everywhere even if the database lost the commits before it, with ${changesSince} changes made since`, async () => {
      await using context = await openKeys();
      const other = context.startNode();
      const [stolen, used] = [await context.create(), await context.create()];
      const setBack = await context.snapshotKeys();
      const lost = [await context.create(), await context.create()];
      for (const { key } of [stolen, used, ...lost]) expect(await other.ask(key)).toMatchObject({ rights: {} });
      await setBack();
      await context.keys.revoke(context.admin, stolen.id);
      for (let change = 1; change < changesSince; change++) await context.keys.rotate(context.admin, used.id, 3600);
      await other.cache.refresh();
      expect(await other.ask(stolen.key)).toBe("unauthorized");
      expect(await other.ask(used.key)).toMatchObject({ rights: {} });
      for (const { key } of lost) expect(await other.ask(key)).toBe("unauthorized");
    });

  test("takes effect everywhere even if it was lost and made again at the same version, beside another change", async () => {
    await using context = await openKeys();
    const other = context.startNode();
    const [stolen, quiet, first] = [await context.create(), await context.create(), await context.create()];
    for (const { key } of [stolen, quiet, first]) await other.ask(key);
    const setBack = await context.snapshotKeys();
    await context.keys.revoke(context.admin, first.id);
    await context.keys.revoke(context.admin, stolen.id);
    await other.cache.refresh();
    await setBack();
    context.time.now += 1;
    await context.keys.revoke(context.admin, quiet.id);
    await context.keys.revoke(context.admin, stolen.id);
    await other.cache.refresh();
    for (const { key } of [stolen, quiet]) expect(await other.ask(key)).toBe("unauthorized");
    expect(await other.ask(first.key)).toMatchObject({ rights: {} });
  });

  test("that cannot be asked for is assumed after 4 seconds: 503 until the store answers again", async () => {
    await using context = await openKeys();
    const { key, id } = await context.create();
    context.link.isCut = true;
    context.time.elapsed += 3_999;
    expect(idOf(await context.ask(key))).toBe(id);
    context.time.elapsed += 1;
    expect(await context.ask(key)).toBe("unavailable");
    expect(await context.ask(createApiKey().key)).toBe("unavailable");
    expect(await context.ask("nonsense")).toBe("unauthorized");
    expect(idOf(await context.ask(bootstrapKey))).toBe("bootstrap");
    context.link.isCut = false;
    expect(idOf(await context.ask(key))).toBe(id);
    expect(context.errors).toEqual([]);
  });

  test("of many keys reaches a node that knows few of them, without teaching it the others", async () => {
    await using context = await openKeys({ maxKeys: 3 });
    const made: ApiKeyWithSecret[] = [];
    for (let count = 0; count < 6; count++) made.push(await context.create());
    const known = () => made.filter(({ id }) => context.cache.get(id) !== undefined).map(({ id }) => id);
    expect(known()).toEqual(made.slice(3).map(({ id }) => id));
    for (const { key, id } of made) expect(idOf(await context.ask(key))).toBe(id);
    expect(known()).toHaveLength(3);
    for (const { id } of made.slice(2)) await context.keys.revoke(context.admin, id);
    const answers = await Promise.all(made.map(({ key }) => context.ask(key)));
    expect(answers.map(idOf)).toEqual(made.map(({ id }, index) => (index < 2 ? id : "unauthorized")));
  });
});

describe("the old secret of a rotated key", () => {
  test("works for the overlap, shows when it expires, and expires then", async () => {
    await using context = await openKeys();
    const { key: old, id } = await context.create();
    const { key: fresh, old_secret_expires_at: end } = await context.keys.rotate(context.admin, id, 60);
    const endsAt = context.time.now + 60_000;
    expect(end).toBe(toIso(endsAt));
    expect(await context.ask(old)).toMatchObject({ keyId: id, secretExpiresAt: endsAt });
    expect(await context.ask(fresh)).toMatchObject({ keyId: id, secretExpiresAt: undefined });
    context.time.now = endsAt - 1;
    expect(idOf(await context.ask(old))).toBe(id);
    context.time.now = endsAt;
    expect(await context.ask(old)).toBe("unauthorized");
    expect(idOf(await context.ask(fresh))).toBe(id);
    expect((await context.keys.get(context.admin, id)).old_secret_expires_at).toBeNull();
  });

  test("expires at once with an overlap of zero, and so do earlier ones", async () => {
    await using context = await openKeys();
    const { key: first, id } = await context.create();
    const { key: second } = await context.keys.rotate(context.admin, id, 3_600);
    expect(idOf(await context.ask(first))).toBe(id);
    await context.keys.rotate(context.admin, id, 0);
    expect([await context.ask(first), await context.ask(second)]).toEqual(["unauthorized", "unauthorized"]);
  });

  test("survives a second rotation for the time it was given", async () => {
    await using context = await openKeys();
    const { key: first, id } = await context.create();
    await context.keys.rotate(context.admin, id, 100);
    context.time.now += 50_000;
    const { key: third } = await context.keys.rotate(context.admin, id, 100);
    expect(await context.ask(first)).toMatchObject({ secretExpiresAt: context.time.now + 50_000 });
    context.time.now += 50_000;
    expect([await context.ask(first), idOf(await context.ask(third))]).toEqual(["unauthorized", id]);
  });

  test("expires with its key if that is earlier, and cannot be used to last longer", async () => {
    await using context = await openKeys();
    const { key: old, id } = await context.create({ expires_at: toIso(context.time.now + 30_000) });
    await context.keys.rotate(context.admin, id, 60);
    const caller = await context.authenticate(old, "");
    expect(caller.secretExpiresAt).toBe(context.time.now + 30_000);
    const lasting = await context.create();
    await context.keys.rotate(context.admin, lasting.id, 60);
    const onOldSecret = await context.authenticate(lasting.key, "");
    await expect(context.keys.rotate(onOldSecret, lasting.id, 60)).rejects.toMatchObject({
      code: "insufficient_scope",
    });
    const heir = await context.keys.create(onOldSecret, { name: "heir", scopes: ["observe"] });
    expect(heir.expires_at).toBe(toIso(context.time.now + 60_000));
  });
});

function sliceId(key: string): string {
  return key.slice(3, 39);
}
