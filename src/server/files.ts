import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config.ts";
import type { ThreadScheduler } from "../lib/event-loop/thread-scheduler.ts";
import { type OutageEvents, tellOutages } from "../lib/observing/outages.ts";
import type { Clock } from "../lib/time/clock.ts";
import { createFileAddresses } from "../services/files/file-addresses.ts";
import { createFileFigures } from "../services/files/file-figures.ts";
import { createFileUpkeep } from "../services/files/file-upkeep.ts";
import { createFiles } from "../services/files/files.ts";
import { watchBytes } from "../services/files/watched-bytes.ts";
import type { OrganizationUse } from "../services/limits/organization-use.ts";
import type { Sessions } from "../services/sessions/sessions.ts";
import { createDiskBytes } from "../store/files/disk.ts";
import type { FileBytes } from "../store/files/ports.ts";
import { createS3Bytes } from "../store/files/s3.ts";
import type { createStore } from "../store/store.ts";

const upkeepEveryMs = 60_000;

type Dependencies = {
  config: Config;
  tokenSecret: string;
  store: ReturnType<typeof createStore>;
  use: OrganizationUse;
  thread: ThreadScheduler;
  sessions: Sessions;
  clock: Clock;
  steadyClock: Clock;
  outages: OutageEvents;
};

/** Opens where the bytes of files are kept. */
export function openBytes(config: Config): FileBytes {
  const url = config.HERALD_FILES_URL;
  if (url === undefined) return createDiskBytes(join(config.HERALD_DATA_DIR, "files"));
  if (url.startsWith("file:")) return createDiskBytes(fileURLToPath(url));
  const { hostname, pathname } = new URL(url);
  return createS3Bytes({
    name: hostname,
    prefix: decodeURIComponent(pathname).replaceAll(/^\/+|\/+$/g, ""),
    endpoint: config.HERALD_FILES_S3_ENDPOINT,
    region: config.HERALD_FILES_S3_REGION,
    accessKeyId: config.HERALD_FILES_S3_ACCESS_KEY_ID ?? "",
    secretAccessKey: config.HERALD_FILES_S3_SECRET_ACCESS_KEY ?? "",
    isReadDirectly: config.HERALD_FILES_S3_REDIRECT,
  });
}

/** Creates the files of a node. `start` begins their upkeep, and returns the function that ends it. */
export function createNodeFiles(dependencies: Dependencies) {
  const { config, tokenSecret, store, use, thread, sessions, clock, steadyClock, outages } = dependencies;
  const figures = createFileFigures();
  const bytes = watchBytes(openBytes(config), { figures, outages });
  const { HERALD_TOKEN_SECRET_PREVIOUS: previousSecret, HERALD_BASE_PATH: basePath } = config;
  const secrets = [tokenSecret, ...(previousSecret === undefined ? [] : [previousSecret])];
  const upkeep = createFileUpkeep({ upkeep: store.files, bytes, clock });
  const maxBytes = config.HERALD_LIMIT_FILE_BYTES;
  return {
    files: createFiles({ ...store, bytes, use, thread, maxBytes, figures, clock, elapsed: steadyClock }),
    fileAddresses: createFileAddresses({ sessions, files: store.files, secrets, basePath, clock }),
    fileFigures: figures,
    start(ofUpkeep: OutageEvents): () => Promise<void> {
      const run = tellOutages(upkeep.run, ofUpkeep);
      void run();
      const timer = setInterval(() => void run(), upkeepEveryMs);
      return async () => {
        clearInterval(timer);
        await upkeep.stop();
      };
    },
  };
}
