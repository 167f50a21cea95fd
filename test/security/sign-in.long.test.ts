import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { runHerald } from "../../src/cli/testing/run-herald.ts";
import { type BrowserJar, createBrowserJar } from "../harness/clients/browser-jar.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { type Herald, readAnswer, startHerald } from "../harness/servers/herald.ts";
import { startOpenId } from "../harness/servers/openid.ts";

setDefaultTimeout(120_000);

const sessionName = "__Host-herald_session";
const people = {
  alice: { groups: ["admins"], email: "alice@example.org", email_verified: true },
  bob: { groups: ["readers", "<b>others</b>"], email: "root@example.org", email_verified: false, name: "Bob" },
  mallory: { groups: ["strangers", "<script>"], name: "Mallory" },
};
const roles = {
  groups: {
    admins: { scopes: ["*"] },
    readers: { scopes: ["directory:read", "history:read"], organizations: ["acme"] },
  },
};

type Self = { name: string; session_id: string; scopes: string[]; organization: string | null };
type Listed = { items: { id: string; person: string; key_id: string; address: string; expires_at: string }[] };

let openid: Awaited<ReturnType<typeof startOpenId>>;
let herald: Herald;
beforeAll(async () => {
  const port = freePort();
  openid = await startOpenId({ people, herald: [`http://127.0.0.1:${port}`] });
  herald = await startHerald({ env: { ...openid.settings(roles), HERALD_PORT: String(port) } });
  for (const org of ["acme", "globex"]) await herald.admin("PUT", `/admin/organizations/${org}`, {});
});
afterAll(async () => {
  await herald.stop();
  openid.stop();
});

const begin = (to = "/console") => `${herald.url}/console/sign-in?to=${encodeURIComponent(to)}`;
const isCallback = (url: string) => url.startsWith(`${herald.url}/console/sign-in/callback`);

/** Goes to the provider as this person, and returns the address that leads back, which the browser has not opened. */
async function askedBack(browser: BrowserJar, subject: keyof typeof people, to?: string): Promise<string> {
  openid.visitor.subject = subject;
  return await browser.follow(begin(to), isCallback);
}

async function signIn(subject: keyof typeof people, to?: string) {
  const browser = createBrowserJar();
  const back = await askedBack(browser, subject, to);
  const response = await browser.request(back);
  return { browser, back, response, secret: browser.cookies(herald.url).get(sessionName) };
}

/** A call as the console makes it: from a page of the same origin, with the cookie. */
async function call<T>(browser: BrowserJar, method: string, path: string, headers: Record<string, string> = {}) {
  const own = { "Sec-Fetch-Site": "same-origin", ...headers };
  return await readAnswer<T>(await browser.request(herald.url + path, { method, headers: own }));
}

describe("a person who signs in", () => {
  test("has a session with the rights of the roles, is named in the audit log, and is back on the page asked for", async () => {
    const { browser, response, secret } = await signIn("alice", "/console?x=1#/users/u1?org=acme");
    expect([response.status, response.headers.get("location")]).toEqual([302, "/console?x=1#/users/u1?org=acme"]);
    const [cookie] = response.headers.getSetCookie().filter((one) => one.startsWith(sessionName));
    expect(cookie).toBe(`${sessionName}=${secret}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=43200`);
    const { body: self } = await call<Self>(browser, "GET", "/admin/self");
    expect(self).toMatchObject({ id: null, name: "alice@example.org", scopes: ["*"], organization: null });
    expect((await call(browser, "PUT", "/admin/organizations/acme")).status).toBe(200);
    expect((await call(browser, "DELETE", "/admin/organizations/acme/users/nobody")).status).toBe(404);
    const audit = await herald.admin<{ items: object[] }>("GET", "/admin/audit?key=oidc:alice");
    expect(audit.body.items).toContainEqual(
      expect.objectContaining({
        operation: "signIn",
        person: "alice@example.org",
        target: { session: self.session_id },
      }),
    );
    expect(herald.logs()).not.toContain(secret ?? "no secret");
  });

  test("has a role for one organization there only", async () => {
    const { browser } = await signIn("bob");
    expect((await call(browser, "GET", "/admin/organizations/acme/users")).status).toBe(200);
    expectProblem(await call(browser, "GET", "/admin/organizations/globex/users"), 403, "organization_forbidden");
    expectProblem(await call(browser, "DELETE", "/admin/organizations/acme/users/u"), 403, "insufficient_scope");
    expect((await call<Self>(browser, "GET", "/admin/self")).body.name).toBe("Bob"); // the address is not verified
  });

  test("but has no role gets a page that says which values came, and no session", async () => {
    const { response, secret } = await signIn("mallory");
    const page = await response.text();
    expect([response.status, secret]).toEqual([403, undefined]);
    expect(page).toContain("strangers, &#60;script&#62;");
    expect(page).toContain("HERALD_ADMIN_OIDC_ROLES");
    expect(page).not.toContain("<script>");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("ends the own session without a scope, and no other one", async () => {
    const [bob, alice] = [await signIn("bob"), await signIn("alice")];
    const idOf = async ({ browser }: typeof bob) => (await call<Self>(browser, "GET", "/admin/self")).body.session_id;
    const [ofBob, ofAlice] = [await idOf(bob), await idOf(alice)];
    expectProblem(await call(bob.browser, "GET", "/admin/sessions"), 403, "insufficient_scope");
    expectProblem(await call(bob.browser, "DELETE", `/admin/sessions/${ofAlice}`), 404, "not_found");
    const listed = await call<Listed>(alice.browser, "GET", "/admin/sessions?limit=1000");
    expect(listed.text).not.toContain(alice.secret ?? "no secret");
    expect(listed.body.items.find(({ id }) => id === ofBob)).toMatchObject({ person: "Bob", key_id: "oidc:bob" });
    const ended = await call(bob.browser, "DELETE", `/admin/sessions/${ofBob}`);
    expect([ended.status, bob.browser.cookies(herald.url).has(sessionName)]).toEqual([204, false]);
    const cookie = { Cookie: `${sessionName}=${bob.secret}` };
    expectProblem(await call(bob.browser, "GET", "/admin/self", cookie), 401, "unauthorized");
    expect((await call(alice.browser, "GET", "/admin/self")).status).toBe(200);
  });

  test("is listed by the command line, which ends the session", async () => {
    const bob = await signIn("bob");
    const { body } = await call<Self>(bob.browser, "GET", "/admin/self");
    const run = (...args: string[]) => runHerald(["sessions", ...args, "--url", herald.url, "--key", herald.key]);
    const { stdout } = await run("list");
    const line = stdout.split("\n").find((one) => one.startsWith(body.session_id)) ?? "";
    expect(line.split(/ {2,}/)).toEqual([
      body.session_id,
      "Bob",
      expect.any(String),
      expect.any(String),
      "127.0.0.1",
      "directory:read, history:read",
      "acme",
    ]);
    expect((await run("end", body.session_id)).stdout).toBe(`ended ${body.session_id}\n`);
    expectProblem(await call(bob.browser, "GET", "/admin/self"), 401, "unauthorized");
  });

  test("whose session another one may not end keeps it: a key cannot end what may do more", async () => {
    const { browser } = await signIn("alice");
    const { session_id: id } = (await call<Self>(browser, "GET", "/admin/self")).body;
    const body = { name: "k", scopes: ["keys:manage"] };
    const made = await herald.admin<{ key: string }>("POST", "/admin/keys", body);
    const few = { "Admin-Api-Key": made.body.key };
    expectProblem(await herald.admin("DELETE", `/admin/sessions/${id}`, undefined, few), 403, "insufficient_scope");
    expect((await herald.admin("DELETE", `/admin/sessions/${id}`)).status).toBe(204);
    expectProblem(await call(browser, "GET", "/admin/self"), 401, "unauthorized");
  });
});

describe("an attacker", () => {
  test("who replays an answer of the provider gets nothing, with or without the victim's cookie", async () => {
    const browser = createBrowserJar();
    const back = await askedBack(browser, "alice");
    const cookies = new Map(browser.cookies(herald.url));
    expect((await browser.request(back)).status).toBe(302);
    expect((await browser.request(back)).status).toBe(400); // the cookie served once
    const thief = createBrowserJar();
    expect((await thief.request(back)).status).toBe(400);
    for (const [name, value] of cookies) thief.cookies(herald.url).set(name, value);
    const stolen = await thief.request(back); // the code served once
    expect([stolen.status, thief.cookies(herald.url).has(sessionName)]).toEqual([400, false]);
  });

  test("cannot sign a victim in as somebody else: an answer serves only the browser that asked for it", async () => {
    const attacker = createBrowserJar();
    const back = await askedBack(attacker, "bob");
    const victim = createBrowserJar();
    expect((await victim.request(back)).status).toBe(400);
    await askedBack(victim, "alice"); // a sign-in of the victim's own that is under way
    expect((await victim.request(back)).status).toBe(400);
    expect(victim.cookies(herald.url).has(sessionName)).toBe(false);
  });

  test("cannot mix up answers: another issuer, state, or code of another sign-in is refused", async () => {
    for (const change of [
      { iss: "https://evil.example.org" },
      { iss: "" },
      { state: "x".repeat(43) },
      { code: "of-somebody-else" },
      { error: "access_denied" },
    ]) {
      const browser = createBrowserJar();
      const back = new URL(await askedBack(browser, "alice"));
      if ("error" in change) back.searchParams.delete("code");
      for (const [name, value] of Object.entries(change)) back.searchParams.set(name, value);
      const response = await browser.request(back.href);
      expect([change, response.status, browser.cookies(herald.url).has(sessionName)]).toEqual([change, 400, false]);
    }
    // A code that the provider gave for another sign-in of the same browser has another verifier and nonce.
    const browser = createBrowserJar();
    const [one, other] = [new URL(await askedBack(browser, "alice")), new URL(await askedBack(browser, "alice"))];
    one.searchParams.set("code", other.searchParams.get("code") ?? "");
    expect((await browser.request(one.href)).status).toBe(400);
  });

  test("cannot fix a session: signing in gives a new secret, whatever cookie was there", async () => {
    const browser = createBrowserJar();
    browser.cookies(herald.url).set(sessionName, "A".repeat(43));
    await browser.request(await askedBack(browser, "alice"));
    const secret = browser.cookies(herald.url).get(sessionName);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(secret).not.toBe("A".repeat(43));
    const earlier = { Cookie: `${sessionName}=${"A".repeat(43)}` };
    expectProblem(await call(browser, "GET", "/admin/self", earlier), 401, "unauthorized");
  });

  test("cannot lead anybody elsewhere by the page to return to", async () => {
    const elsewhere = [
      "https://evil.example.org/console",
      "//evil.example.org/console",
      "/\\evil.example.org/console",
      "/console/../docs",
      "/console@evil.example.org",
      "javascript:alert(1)",
      `${herald.url}.evil.example.org/console`,
      "/admin/organizations",
      `/console#${"x".repeat(2_000)}`,
    ];
    for (const to of elsewhere) {
      const { response } = await signIn("alice", to);
      expect([to, response.headers.get("location")]).toEqual([to, "/console"]);
    }
  });

  test("cannot use the session of a visitor from a page of another origin", async () => {
    const { browser } = await signIn("alice");
    const foreign = [
      { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example.org" },
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "none" },
      { "Sec-Fetch-Site": "cross-site", Origin: herald.url },
    ];
    const send = async (method: string, headers: Record<string, string>) =>
      await readAnswer(await browser.request(`${herald.url}/admin/organizations/acme/users/u9`, { method, headers }));
    const old = [{ Origin: "https://evil.example.org" }, { Origin: "null" }, {}];
    for (const headers of [...foreign, ...old])
      expectProblem(await send("DELETE", headers as Record<string, string>), 403, "origin_forbidden");
    expectProblem(await send("GET", { "Sec-Fetch-Site": "cross-site" }), 403, "origin_forbidden");
    expect((await send("DELETE", { Origin: herald.url })).status).toBe(404);
    expect((await send("DELETE", { "Sec-Fetch-Site": "same-origin" })).status).toBe(404);
  });

  test("with the cookie opens no socket, no stream and no tool, and is refused once the session is forged or gone", async () => {
    const { browser } = await signIn("alice");
    expect((await call(browser, "GET", "/sse")).status).toBe(401);
    expect((await call(browser, "POST", "/mcp")).status).toBe(401);
    for (const value of ["", "x", "A".repeat(43), "A".repeat(9_000), "'; DROP TABLE person_session; --"])
      expect((await call(browser, "GET", "/admin/self", { Cookie: `${sessionName}=${value}` })).status).toBe(401);
    const key = { "Admin-Api-Key": "wrong" };
    expectProblem(await call(browser, "GET", "/admin/self", key), 401, "unauthorized"); // a key that is sent counts alone
  });
});

test("without a provider there is nothing to sign in to", async () => {
  await using plain = await startHerald();
  expect((await plain.http("GET", "/console/sign-in")).status).toBe(404);
  expect((await plain.http("GET", "/console/sign-in/callback?state=x&code=y")).status).toBe(404);
});

test("below a path, people come back there", async () => {
  const port = freePort();
  const url = `http://127.0.0.1:${port}/herald`;
  using provider = await startOpenId({ people, herald: [url] });
  await using below = await startHerald({
    env: { ...provider.settings(roles), HERALD_PORT: String(port), HERALD_BASE_PATH: "/herald" },
  });
  for (const [to, end] of [
    ["/herald/console#/users", "/herald/console#/users"],
    ["/console#/users", "/herald/console"],
  ] as const) {
    const browser = createBrowserJar();
    const start = `${url}/console/sign-in?to=${encodeURIComponent(to)}`;
    const back = await browser.follow(start, (at) => at.includes("/callback"));
    expect((await browser.request(back)).headers.get("location")).toBe(end);
  }
  expect((await below.http("GET", "/herald/console")).text).toContain('name="herald-provider"');
});

test("with a wrong client secret, the page says that it did not work, and the log says why", async () => {
  const port = freePort();
  using provider = await startOpenId({ people, herald: [`http://127.0.0.1:${port}`] });
  const settings = { ...provider.settings(roles), HERALD_PORT: String(port) };
  const wrong = "wrong-secret-0123456789abcdefghij";
  await using mistaken = await startHerald({ env: { ...settings, HERALD_ADMIN_OIDC_CLIENT_SECRET: wrong } });
  const browser = createBrowserJar();
  const back = await browser.follow(`${mistaken.url}/console/sign-in`, (url) => url.includes("/callback"));
  const response = await browser.request(back);
  expect([response.status, browser.cookies(mistaken.url).size]).toEqual([400, 0]);
  await mistaken.stop();
  const [line] = mistaken.logLines().filter(({ msg }) => msg === "a sign-in at the OpenID provider failed");
  expect(String(line?.reason)).toContain("invalid_client");
  expect(mistaken.logs()).not.toContain(wrong);
});

test("while the provider is away, a page says so", async () => {
  await using lonely = await startHerald({
    env: { ...openid.settings(roles), HERALD_ADMIN_OIDC_ISSUER: `http://127.0.0.1:${freePort()}` },
  });
  const answer = await lonely.http<string>("GET", "/console/sign-in");
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(answer.text).toContain("the OpenID provider cannot be reached right now");
});
