import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../harness/deadline.ts";
import { useEngines } from "../harness/engines.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { type Herald, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { type ApiKeyWithSecret, callWith, createKey } from "../harness/servers/keys.ts";

setDefaultTimeout(120_000);

const revocationMs = 5_000;

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  const startNode = (url: string, secret = TEST_TOKEN_SECRET) =>
    startHerald({
      env: {
        HERALD_DATABASE_URL: url,
        HERALD_BUS_URL: nats.url,
        HERALD_ADMIN_API_KEY: TEST_KEY,
        HERALD_TOKEN_SECRET: secret,
      },
    });
  const use = (node: Herald, key: string) => callWith(node, key, "GET", "/admin/organizations");
  /** Resolves once the node refuses the key; rejects if it still accepts it after 5 seconds. */
  const untilRefused = (node: Herald, key: string) =>
    eventually(
      async () => ((await use(node, key)).status === 401 ? true : undefined),
      "the key to be refused on the other node",
      revocationMs,
    );

  describe("API keys on two nodes", () => {
    test("work on both as soon as they are created or rotated on one", async () => {
      const url = await postgres.createDatabase();
      await using first = await startNode(url);
      await using second = await startNode(url);
      const { key, id } = await createKey(first);
      expect((await use(second, key)).status).toBe(200);
      const { body } = await second.admin<ApiKeyWithSecret>("POST", `/admin/keys/${id}/rotate`);
      expect((await use(first, body.key)).status).toBe(200);
      const onOld = await eventually(async () => {
        const { headers } = await use(first, key);
        return headers.get("herald-key-expires") ?? undefined;
      }, "the old secret to be told as old on the other node");
      expect(onOld).toBe(String(body.old_secret_expires_at));
      await first.stop();
      await second.stop();
    });

    test("are refused on the second within 5 seconds of a revocation on the first, even while the bus is away", async () => {
      const url = await postgres.createDatabase();
      await using first = await startNode(url);
      await using second = await startNode(url);
      const [one, other, kept] = [await createKey(first), await createKey(first), await createKey(first)];
      for (const { key } of [one, other, kept]) expect((await use(second, key)).status).toBe(200);
      await first.admin("DELETE", `/admin/keys/${one.id}`);
      expectProblem(await use(first, one.key), 401, "unauthorized");
      await untilRefused(second, one.key);
      await nats.outage(async () => {
        await first.admin("DELETE", `/admin/keys/${other.id}`);
        await untilRefused(second, other.key);
      });
      expect((await use(second, kept.key)).status).toBe(200);
      await first.stop();
      await second.stop();
    });

    test("get 503 once the database has been away for seconds, and are known again when it is back", async () => {
      await using node = await startNode(await postgres.createDatabase());
      const { key } = await createKey(node);
      // Refused for its body, without the database, as long as the key is known.
      const ask = async () => (await callWith(node, key, "POST", "/admin/message", {})).status;
      expect(await ask()).toBe(422);
      await postgres.restart(async () => {
        await eventually(async () => ((await ask()) === 503 ? true : undefined), "the key not to be trusted any more");
        expectProblem(await node.http("POST", "/admin/message"), 401, "unauthorized");
        expect((await node.admin("POST", "/admin/message", {})).status).toBe(422); // the bootstrap key is not in the database
      });
      await eventually(async () => ((await ask()) === 422 ? true : undefined), "the key to be known again");
      await node.stop();
    });

    test("are refused by a node with another secret, which says so when it starts", async () => {
      const url = await postgres.createDatabase();
      await using first = await startNode(url);
      const { key } = await createKey(first);
      await using second = await startNode(url, "another-secret-0123456789abcdefghijklmnopqrstuvwxyz");
      expectProblem(await use(second, key), 401, "unauthorized");
      const warnings = second.logLines().filter(({ level }) => level === 40);
      expect(warnings).toMatchObject([{ keys: 1, msg: expect.stringContaining("created with another server secret") }]);
      expect((await use(first, key)).status).toBe(200);
      await first.stop();
      await second.stop();
    });
  });
}
