import { expect, setDefaultTimeout, test } from "bun:test";
import { createBrowserJar } from "../harness/clients/browser-jar.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { useEngines } from "../harness/engines.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { type Herald, readAnswer, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { startOpenId } from "../harness/servers/openid.ts";

setDefaultTimeout(120_000);

const sessionName = "__Host-herald_session";

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres } = engines;

  test("a person who begins to sign in on one node goes on with another; a session that ends there ends on both at once", async () => {
    const url = await postgres.createDatabase();
    const ports = [freePort(), freePort()];
    using openid = await startOpenId({
      people: { alice: { groups: ["admins"] } },
      herald: ports.map((port) => `http://127.0.0.1:${port}`),
    });
    const startNode = (port = 0) =>
      startHerald({
        env: {
          ...openid.settings({ groups: { admins: { scopes: ["*"] } } }),
          HERALD_PORT: String(port),
          HERALD_DATABASE_URL: url, // without a bus, which sessions do not need
          HERALD_ADMIN_API_KEY: TEST_KEY,
          HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
        },
      });
    await using first = await startNode(ports[0]);
    await using second = await startNode(ports[1]);
    const browser = createBrowserJar();
    const back = await browser.follow(`${first.url}/console/sign-in`, (at) => at.includes("/callback"));
    // As behind a load balancer: the same cookies reach either node.
    for (const [name, value] of browser.cookies(first.url)) browser.cookies(second.url).set(name, value);
    expect((await browser.request(back.replace(first.url, second.url))).status).toBe(302);
    const Cookie = `${sessionName}=${browser.cookies(second.url).get(sessionName)}`;
    const call = async <T>({ url }: Herald, method: string, path: string) => {
      const headers = { Cookie, "Sec-Fetch-Site": "same-origin" };
      return await readAnswer<T>(await browser.request(url + path, { method, headers }));
    };
    const self = await call<{ session_id: string }>(first, "GET", "/admin/self");
    expect((await call(second, "GET", "/admin/self")).status).toBe(200);
    expect((await call(first, "DELETE", `/admin/sessions/${self.body.session_id}`)).status).toBe(204);
    for (const node of [second, first]) expectProblem(await call(node, "GET", "/admin/self"), 401, "unauthorized");
    await first.stop();
    await second.stop();
  });
}
