import { defineScenario } from "../scenario.ts";
import { onSmallDatabase, onSmallEmbedded } from "../stages.ts";

const expected = "Sends are answered 507 `storage_full` until there is space, and then go on. Connections stay open.";
const calls = { bodySizes: [1_000, 20_000] as [number, number] };

/** The disk under the embedded database is full for a while. */
export const diskFullEmbedded = defineScenario({
  name: "disk-full-embedded",
  row: "Disk full, embedded database (small tmpfs)",
  expected,
  rounds: { short: 2, long: 4 },
  holdMs: { short: [200, 800], long: [500, 4_000] },
  allows: ["507"],
  requires: ["507"],
  calls,
  stage: onSmallEmbedded,
  break: ({ fillDisk }) => fillDisk(),
});

/** The disk under PostgreSQL's tables is full for a while. */
export const diskFullPostgres = defineScenario({
  name: "disk-full-postgres",
  row: "Disk full, PostgreSQL (tables on a small tmpfs)",
  expected,
  rounds: { short: 2, long: 4 },
  holdMs: { short: [200, 800], long: [500, 4_000] },
  allows: ["507"],
  requires: ["507"],
  calls,
  stage: onSmallDatabase,
  break: ({ postgres }) => postgres.fillDisk(),
});
