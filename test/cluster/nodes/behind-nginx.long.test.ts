import { expect, setDefaultTimeout, test } from "bun:test";
import { LIFTED } from "../../harness/reading/persistence.ts";
import { startCluster } from "../../harness/servers/cluster.ts";
import { callsTo, errorsLogged, TEST_KEY } from "../../harness/servers/herald.ts";
import { startNginxBefore } from "../../harness/servers/nginx.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const callers = 16;
const callsBetween = 200;
// As in docs/how-to/run-a-cluster.md.
const proxy = ["proxy_next_upstream error timeout non_idempotent;"];

const started = await startCluster({
  nodes: 2,
  env: () => ({ ...LIFTED, HERALD_TRUSTED_PROXIES: "127.0.0.1" }),
});
const urls = started?.nodes.map(({ url }) => url) ?? [];
const nginx = started && (await startNginxBefore(urls, proxy));
if (started !== undefined && nginx !== undefined) {
  test("nodes behind nginx, which keeps connections alive, stop one after the other under load: no call fails, and no send is stored twice", async () => {
    await using cluster = started;
    await using _ = nginx;
    const calls = callsTo(nginx.url, { key: TEST_KEY });
    const org = await createOrganization({ ...cluster.node(0).herald, ...calls });
    const cid = await org.conversation(["alice", "bob"]);
    const failed: string[] = [];
    let called = 0;
    let sends = 0;
    let isOver = false;
    const waiting = new Set<() => void>();

    async function call(): Promise<number> {
      const number = called++;
      if (number % 4 === 0) return (await calls.admin("GET", org.path("users"))).status;
      if (number % 4 === 1) return (await calls.admin("PUT", org.path("users", `user-${number % 50}`), {})).status;
      sends++;
      return (await org.send("alice", { id: `send-${number}`, cid, body: "x" })).status;
    }

    async function caller(): Promise<void> {
      while (!isOver) {
        const status = await call().catch(String);
        if (status !== 200 && status !== 201) failed.push(String(status));
        for (const look of waiting) look();
      }
    }

    /** Resolves once so many more calls were made. */
    function more(): Promise<void> {
      const upTo = called + callsBetween;
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => {
        if (called < upTo) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      return promise;
    }

    const load = Array.from({ length: callers }, caller);
    const logged: string[] = [];
    for (const node of [...cluster.nodes, ...cluster.nodes]) {
      await more();
      const { herald } = node;
      await node.stop();
      logged.push(...errorsLogged(herald));
      await more();
      await node.start();
    }
    await more();
    isOver = true;
    await Promise.all(load);
    expect(failed).toEqual([]);
    expect(logged).toEqual([]);
    const { text } = await calls.admin("GET", org.path("export"));
    expect(text.split("\n").filter((line) => line.startsWith('{"message":')).length).toBe(sends);
  });
}
