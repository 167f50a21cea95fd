import { expect, setDefaultTimeout, test } from "bun:test";
import { LIFTED, startTraffic } from "../../harness/reading/persistence.ts";
import { startCluster } from "../../harness/servers/cluster.ts";
import { errorsLogged } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const started = await startCluster({ nodes: 3, env: () => LIFTED });
if (started !== undefined) {
  test("a cluster is restarted node by node under load: no send fails for good, no client misses anything, and all are told to return", async () => {
    await using cluster = started;
    const org = await createOrganization(cluster.node(0).herald);
    const urls = cluster.nodes.map(({ url }) => url);
    const traffic = await startTraffic(org, { urls, clients: 60, senders: 6 });
    await traffic.more();
    const logged: string[] = [];
    for (const node of cluster.nodes) {
      const { herald } = node;
      await node.stop();
      logged.push(...errorsLogged(herald));
      await traffic.more(); // the others continue
      await node.start();
    }
    await traffic.more();
    const { sends, reconnects, longestAwayMs } = await traffic.expectNothingLost();
    expect(reconnects).toBeGreaterThanOrEqual(60);
    expect(new Set(traffic.closeCodes())).toEqual(new Set([1012]));
    expect(logged).toEqual([]);
    console.log(`rolling restart: ${sends} sends, ${reconnects} reconnects, away for ${longestAwayMs} ms at most`);
  });
}
