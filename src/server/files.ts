import { join } from "node:path";
import type { Config } from "../config.ts";
import { type OutageEvents, tellOutages } from "../lib/observing/outages.ts";
import type { Clock } from "../lib/time/clock.ts";
import { createFileAddresses } from "../services/files/file-addresses.ts";
import { createFileUpkeep } from "../services/files/file-upkeep.ts";
import { createFiles } from "../services/files/files.ts";
import type { OrganizationUse } from "../services/limits/organization-use.ts";
import type { Sessions } from "../services/sessions/sessions.ts";
import { createDiskBytes } from "../store/files/disk.ts";
import type { createStore } from "../store/store.ts";

const upkeepEveryMs = 60_000;

type Dependencies = {
  config: Config;
  tokenSecret: string;
  store: ReturnType<typeof createStore>;
  use: OrganizationUse;
  sessions: Sessions;
  clock: Clock;
};

/** Creates the files of a node, whose bytes are in its data folder. `start` begins their upkeep, and returns the function that ends it. */
export function createNodeFiles({ config, tokenSecret, store, use, sessions, clock }: Dependencies) {
  const bytes = createDiskBytes(join(config.HERALD_DATA_DIR, "files"));
  const { HERALD_TOKEN_SECRET_PREVIOUS: previousSecret } = config;
  const secrets = [tokenSecret, ...(previousSecret === undefined ? [] : [previousSecret])];
  const upkeep = createFileUpkeep({ upkeep: store.files, bytes, clock });
  return {
    files: createFiles({ ...store, bytes, use, maxBytes: config.HERALD_LIMIT_FILE_BYTES, clock }),
    fileAddresses: createFileAddresses({ sessions, files: store.files, secrets, clock }),
    start(outages: OutageEvents): () => Promise<void> {
      const run = tellOutages(upkeep.run, outages);
      void run();
      const timer = setInterval(() => void run(), upkeepEveryMs);
      return async () => {
        clearInterval(timer);
        await upkeep.stop();
      };
    },
  };
}
