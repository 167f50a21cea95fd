import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startCluster } from "../harness/servers/cluster.ts";
import { forgeries } from "./forgeries.ts";

setDefaultTimeout(60_000);

const cluster = await startCluster({ nodes: 2 });
if (cluster !== undefined) {
  afterAll(() => cluster[Symbol.asyncDispose]());

  describe("someone who may publish on the bus but is not a node", () => {
    test.each(forgeries.map(({ name, wrong, succeeds }) => ({ name, wrong, succeeds })))(
      "achieves nothing by a $name",
      async ({ succeeds }) => {
        expect(await succeeds(cluster)).toBe(false);
      },
    );
  });
}
