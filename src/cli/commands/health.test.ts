import { expect, test } from "bun:test";
import { createAuthority } from "../../../test/harness/engines/certificates.ts";
import { runHerald, startServer } from "../testing/run-herald.ts";

const settingsFor = (url: string) => ({ HERALD_PORT: new URL(url).port });

test("health tells what was checked, without a key, and ends with 0", async () => {
  await using server = await startServer();
  const ready = await runHerald(["health"], { env: settingsFor(server.url) });
  expect(ready).toEqual({ code: 0, stdout: "node: ok\nevent_loop: ok\nstore: ok\n", stderr: "" });
  const live = await runHerald(["health", "--live", "--url", `${server.url}/`]);
  expect(live).toEqual({ code: 0, stdout: "node: ok\nevent_loop: ok\n", stderr: "" });
});

test("health is 1 if a node does not accept requests, and if the answer is not Herald's", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith("/readyz")
        ? Response.json({ status: "failing", checks: { node: "ok", store: "does not respond\u001b" } }, { status: 503 })
        : new Response("hello"),
  });
  const url = server.url.origin;
  expect(await runHerald(["health", "--url", url])).toEqual({
    code: 1,
    stdout: "node: ok\nstore: does not respond\\u001b\n",
    stderr: `herald: ${url} does not accept requests (503).\n`,
  });
  const other = await runHerald(["health", "--live", "--url", url]);
  expect(other).toMatchObject({ code: 1, stderr: `herald: ${url} answered 200, but not as Herald does.\n` });
});

test("health is 3 if nobody listens", async () => {
  const { code, stderr } = await runHerald(["health", "--url", "http://127.0.0.1:1"]);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining("http://127.0.0.1:1 cannot be reached"),
  });
});

test("health of the own server needs nobody to trust its certificate", async () => {
  using authority = createAuthority();
  if (authority === undefined) return;
  const { cert, key } = authority.issue("herald");
  const tls = { HERALD_TLS_CERT: cert, HERALD_TLS_KEY: key };
  await using server = await startServer(tls);
  const { code, stderr } = await runHerald(["health"], { env: { ...tls, ...settingsFor(server.url) } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
