import { expect, setDefaultTimeout, test } from "bun:test";
import { repeatCommand, runScenario } from "../faults/run-scenario.ts";
import { reportMissing } from "../harness/engines/installed.ts";
import { findNats } from "../harness/engines/nats.ts";
import { findPostgres } from "../harness/engines/postgres.ts";
import { installRevision } from "../harness/engines/revision.ts";
import { createRandom } from "../harness/random.ts";
import { previousRevision } from "./previous.ts";
import { createUpgrade } from "./scenario.ts";

setDefaultTimeout(240_000); // including the first installation

if (hasServers()) {
  test("nodes are upgraded one by one, back and again, under load: nothing is lost, duplicated, misordered, or refused beyond a stop", async () => {
    const upgrade = createUpgrade({ previous: await installRevision(previousRevision), next: null });
    const options = { seed: createRandom().seed, size: "short" as const };
    const seen = await runScenario(upgrade, options);
    const again = repeatCommand(upgrade, options);
    expect({ again, faults: seen?.faults ?? [] }).toEqual({ again, faults: [] });
  });
}

function hasServers(): boolean {
  if (findPostgres() === undefined) reportMissing("PostgreSQL", "postgresql");
  else if (findNats() === undefined) reportMissing("NATS", "nats-server");
  else return true;
  return false;
}
