import { forgeries } from "../../test/attacks/forgeries.ts";
import { startCluster } from "../../test/harness/servers/cluster.ts";
import type { Checkout } from "../harness/checkouts.ts";
import type { Series } from "../harness/report/rounds.ts";
import { type AttackSeries, renderRuns, titleOf } from "./report/report.ts";
import { wrongPrefix } from "./report/verdict.ts";

const store = "PostgreSQL";

/** Attacks on the bus, which have no victim: each succeeds or fails. */
export const busAttacks = forgeries.map(({ name, wrong }) => ({
  name,
  row: 10,
  who: `anyone who may publish on NATS: a ${name.replace("-", " ")}`,
  wrong,
}));

/** Forges events on the bus of two nodes of each checkout. Returns nothing if PostgreSQL or NATS is not installed. */
export async function runBusAttacks(checkouts: readonly Checkout[]): Promise<AttackSeries> {
  const found: Record<string, Series> = {};
  for (const { name: contender, root } of checkouts) {
    await using cluster = await startCluster({ nodes: 2, revision: root });
    if (cluster === undefined) return {};
    for (const { name, wrong, succeeds } of forgeries) {
      const title = titleOf(name, store);
      const run = { [`${wrongPrefix}${wrong}`]: (await succeeds(cluster)) ? 1 : 0 };
      found[title] = { ...found[title], [contender]: [run] };
    }
  }
  for (const [title, series] of Object.entries(found)) console.log(renderRuns(title, series, 0));
  return found;
}
