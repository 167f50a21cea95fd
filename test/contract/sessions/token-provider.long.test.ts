import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { hostname } from "node:os";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { openSse, requestSse } from "../../harness/clients/sse.ts";
import { eventually } from "../../harness/deadline.ts";
import { freePort } from "../../harness/engines/free-port.ts";
import { createSteppedClock } from "../../harness/engines/stepped-clock.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { errorsLogged, type Herald, startHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { goodClaims } from "../../harness/servers/tokens.ts";

setDefaultTimeout(120_000);

/** Starts an identity provider that serves its key set, and counts the requests. */
async function startProvider(port = 0) {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "k1" };
  let asked = 0;
  const server = Bun.serve({
    port,
    fetch() {
      asked++;
      return Response.json({ keys: [jwk] });
    },
  });
  const stop = () => server.stop(true);
  return {
    urlFor: (host: string) => `http://${host}:${server.port}/jwks`,
    asked: () => asked,
    sign: (org: string, uid: string, header: object = {}, claims: object = {}) =>
      new SignJWT({ ...goodClaims(org, uid), iss: "idp", ...claims })
        .setProtectedHeader({ alg: "ES256", typ: "JWT", kid: "k1", ...header })
        .sign(privateKey),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function expectRefused(herald: Herald, token: string, status: number, code: string): Promise<void> {
  const answer = await requestSse(herald.url, bearer(token));
  if ("sse" in answer) throw new Error("a stream was granted");
  expectProblem(answer.refused, status, code);
}

describe("tokens of an identity provider", () => {
  test("open connections, even while it is away; unknown keys do not make Herald ask repeatedly", async () => {
    await using provider = await startProvider();
    await using herald = await startHerald({
      env: { HERALD_TOKEN_JWKS_URL: provider.urlFor("127.0.0.1"), HERALD_TOKEN_ISSUER: "idp" },
    });
    const org = await createOrganization(herald);
    using first = await openSse(herald.url, bearer(await provider.sign(org.id, "alice")), "alice");
    await org.expectNothingElse(first);
    await expectRefused(herald, await provider.sign(org.id, "alice", {}, { iss: "other" }), 401, "unauthorized");
    for (let index = 0; index < 50; index++)
      await expectRefused(herald, await provider.sign(org.id, "alice", { kid: `k-${index}` }), 401, "unauthorized");
    expect(provider.asked()).toBeLessThan(5); // the flood ends long before its 30 seconds do, unless the machine sleeps
    await provider.stop();
    using second = await openSse(herald.url, bearer(await provider.sign(org.id, "bob")), "bob");
    await org.expectNothingElse(second);
    await herald.stop();
  });

  test("are reported once when they go and once when they are back, with the address and how long they were away", async () => {
    using clock = createSteppedClock();
    if (clock === undefined) return;
    const port = freePort();
    const url = `http://127.0.0.1:${port}/jwks`;
    await using herald = await startHerald({
      env: { HERALD_TOKEN_JWKS_URL: url, HERALD_TOKEN_ISSUER: "idp", ...clock.env },
    });
    const org = await createOrganization(herald);
    const told = () => herald.logLines().filter(({ dependency }) => dependency === "identity provider");
    await using provider = await startProvider(port);
    await provider.stop();
    const token = await provider.sign(org.id, "alice");
    await expectRefused(herald, token, 503, "unavailable");
    clock.set(31); // the next fetch may come
    await expectRefused(herald, token, 503, "unavailable");
    await eventually(() => told().length > 0 || undefined, "the line that it is away"); // written after the answer
    expect(told().map(({ level, address }) => [level, address])).toEqual([[40, url]]);
    await using back = await startProvider(port);
    clock.set(62);
    using sse = await openSse(herald.url, bearer(await back.sign(org.id, "alice")), "alice");
    await org.expectNothingElse(sse);
    await eventually(() => told().length > 1 || undefined, "the line that it is back");
    expect(told().map(({ level }) => level)).toEqual([40, 30]);
    expect(told()[1]?.away_ms).toEqual(expect.any(Number));
    expect(errorsLogged(herald)).toEqual([]);
  });

  test("are not fetched if its name leads to a private address, unless that is allowed", async () => {
    await using provider = await startProvider();
    await using herald = await startHerald({
      env: {
        HERALD_TOKEN_JWKS_URL: provider.urlFor(hostname()),
        HERALD_TOKEN_JWKS_ALLOW_PRIVATE: "1",
        HERALD_TOKEN_ISSUER: "idp",
      },
    });
    const org = await createOrganization(herald);
    const token = await provider.sign(org.id, "alice");
    using alice = await openSse(herald.url, bearer(token), "alice");
    await org.expectNothingElse(alice);
    const asked = provider.asked();
    await herald.stop();
    // https, as http to a name is refused at the start; nothing gets as far as TLS.
    await using wary = await startHerald({
      dataDir: herald.dataDir,
      env: {
        HERALD_TOKEN_JWKS_URL: provider.urlFor(hostname()).replace("http:", "https:"),
        HERALD_TOKEN_ISSUER: "idp",
      },
    });
    await expectRefused(wary, token, 503, "unavailable");
    await eventually(() => wary.logs().includes("not a public address") || undefined, "the line that says why");
    expect(provider.asked()).toBe(asked);
  });
});

describe("the previous token secret", () => {
  test("keeps opening connections after a rotation, until the setting is removed", async () => {
    const old = "old-secret-".padEnd(40, "x");
    const fresh = "new-secret-".padEnd(40, "x");
    await using first = await startHerald({ env: { HERALD_TOKEN_SECRET: old } });
    const org = await createOrganization(first);
    const token = await org.token("alice");
    await first.stop();
    const restart = (env: Record<string, string>) =>
      startHerald({ dataDir: first.dataDir, env: { HERALD_TOKEN_SECRET: fresh, ...env } });
    await using rotating = await restart({ HERALD_TOKEN_SECRET_PREVIOUS: old });
    using alice = await openSse(rotating.url, bearer(token), "alice");
    const again = await createOrganization(rotating, org.id);
    await again.expectNothingElse(alice);
    const newer = await again.token("alice");
    alice.close();
    await rotating.stop();
    await using rotated = await restart({});
    await expectRefused(rotated, token, 401, "unauthorized");
    using back = await openSse(rotated.url, bearer(newer), "alice");
    expect(back.headers.get("content-type")).toBe("text/event-stream");
  });
});
