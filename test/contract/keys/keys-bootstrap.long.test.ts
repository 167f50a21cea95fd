import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { errorsLogged, type Herald, startHerald } from "../../harness/servers/herald.ts";
import { type ApiKeyWithSecret, callWith, createKey } from "../../harness/servers/keys.ts";

setDefaultTimeout(120_000);

const path = "/admin/keys/bootstrap/rotate";
const keyIn = (folder: string) => readFileSync(join(folder, "admin-api-key"), "utf8").trim();
const statusOf = async (herald: Herald, key: string) =>
  (await callWith(herald, key, "GET", "/admin/organizations")).status;

async function rotate(herald: Herald, key: string, overlap?: number): Promise<ApiKeyWithSecret> {
  const body = overlap === undefined ? undefined : { overlap_seconds: overlap };
  const answer = await callWith<ApiKeyWithSecret>(herald, key, "POST", path, body);
  expect(answer.status).toBe(200);
  return answer.body;
}

describe("the admin API key created by the server", () => {
  test("is rotated at run time: the old one works for the overlap with a warning, even after a restart, and then no more", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "herald-bootstrap-"));
    await using first = await startHerald({ dataDir, key: null });
    const old = keyIn(dataDir);
    const rotated = await rotate(first, old);
    expect(rotated).toMatchObject({ id: "bootstrap", name: "bootstrap", scopes: ["*"], organization: null });
    expect(rotated.key).toMatch(/^hk_/);
    expect(keyIn(dataDir)).toBe(rotated.key);
    const files = readdirSync(dataDir).filter((name) => name.startsWith("admin-api-key"));
    expect(files.map((file) => [file, statSync(join(dataDir, file)).mode & 0o777]).sort()).toEqual([
      ["admin-api-key", 0o600],
      ["admin-api-key-former", 0o600],
    ]);
    expect(readdirSync(dataDir).filter((name) => name.endsWith(".new"))).toEqual([]);
    const warned = await callWith(first, old, "GET", "/admin/self");
    expect(warned.headers.get("herald-key-expires")).toBe(rotated.old_secret_expires_at);
    expect((await callWith(first, rotated.key, "GET", "/admin/self")).headers.get("herald-key-expires")).toBeNull();
    // A caller with the old one cannot extend its own rights.
    expectProblem(await callWith(first, old, "POST", path), 403, "insufficient_scope");
    await first.stop();

    await using second = await startHerald({ dataDir, key: null });
    expect([await statusOf(second, old), await statusOf(second, rotated.key)]).toEqual([200, 200]);
    const last = await rotate(second, rotated.key, 0);
    expect(last.old_secret_expires_at).toBeNull();
    expect([await statusOf(second, old), await statusOf(second, rotated.key)]).toEqual([401, 401]);
    expect(await statusOf(second, last.key)).toBe(200);
    const audit = await callWith(second, last.key, "GET", "/admin/audit?operation=rotateKey");
    expect(audit.text).toContain('"key":"bootstrap"');
    await second.stop();
    for (const key of [old, rotated.key, last.key])
      expect(first.logs() + second.logs() + audit.text).not.toContain(key);
    expect([...errorsLogged(first), ...errorsLogged(second)]).toEqual([]);
    rmSync(dataDir, { recursive: true });
  });

  test("works with at most four former ones, and adopts what another process writes to its file", async () => {
    await using herald = await startHerald({ key: null });
    const keys = [keyIn(herald.dataDir)];
    for (let count = 0; count < 6; count++) keys.push((await rotate(herald, keys.at(-1) ?? "", 3600)).key);
    const statuses = await Promise.all(keys.map((key) => statusOf(herald, key)));
    expect(statuses).toEqual([401, 401, 200, 200, 200, 200, 200]);
    const byHand = "a-key-that-an-operator-wrote-0123456789";
    writeFileSync(join(herald.dataDir, "admin-api-key"), "short\n"); // not a key: the previous one stays
    writeFileSync(join(herald.dataDir, "admin-api-key"), `${byHand}\n`);
    await eventually(async () => (await statusOf(herald, byHand)) === 200 || undefined, "the key of the file to work");
    expect(await statusOf(herald, keys.at(-1) ?? "")).toBe(401);
    await herald.stop();
    expect(herald.logs()).not.toContain(byHand);
  });

  test("is rotated sequentially by concurrent calls: those whose key has just become an old one are refused", async () => {
    await using herald = await startHerald({ key: null });
    const key = keyIn(herald.dataDir);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => callWith<Partial<ApiKeyWithSecret>>(herald, key, "POST", path)),
    );
    expect(new Set(answers.map(({ status }) => status)).difference(new Set([200, 403]))).toEqual(new Set());
    const made = answers.flatMap(({ body }) => body.key ?? []);
    expect(made).toContain(keyIn(herald.dataDir));
    for (const one of [key, ...made]) expect(await statusOf(herald, one)).toBe(200);
  });

  test("is not rotated by a caller with fewer rights", async () => {
    await using herald = await startHerald({ key: null });
    const key = keyIn(herald.dataDir);
    const make = (request: object) =>
      createKey({ ...herald, admin: (...call) => asKey(herald, key, call) }, { ...request });
    const manager = await make({ scopes: ["keys:manage"] });
    expectProblem(await callWith(herald, manager.key, "POST", path), 403, "insufficient_scope");
    await callWith(herald, key, "PUT", "/admin/organizations/o1", {});
    const bound = await make({ scopes: ["*"], organization: "o1" });
    expectProblem(await callWith(herald, bound.key, "POST", path), 404, "not_found");
    const whole = await make({ scopes: ["*"] });
    const rotated = await rotate(herald, whole.key, 0);
    expect([await statusOf(herald, key), await statusOf(herald, rotated.key)]).toEqual([401, 200]);
  });
});

test("an admin API key from the settings is changed there, as the refusal says", async () => {
  await using herald = await startHerald();
  const refused = await herald.admin("POST", path);
  expectProblem(refused, 400, "bad_request");
  expect(refused.text).toContain("HERALD_ADMIN_API_KEY");
  expect((await herald.admin("GET", "/admin/organizations")).status).toBe(200);
});

function asKey(herald: Herald, key: string, [method, target, body]: Parameters<Herald["admin"]>) {
  return herald.admin<never>(method, target, body, { "Admin-Api-Key": key });
}
