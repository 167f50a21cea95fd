import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config.ts";
import { createFileAddresses } from "../services/files/file-addresses.ts";
import { createFileFigures } from "../services/files/file-figures.ts";
import { createFileUpkeep } from "../services/files/file-upkeep.ts";
import { createFiles } from "../services/files/files.ts";
import { watchBytes } from "../services/files/watched-bytes.ts";
import { createDiskBytes } from "../store/files/disk.ts";
import type { FileBytes } from "../store/files/ports.ts";
import { createS3Bytes } from "../store/files/s3.ts";
import type { Context } from "./context.ts";
import type { Limits } from "./limits.ts";
import type { Secrets } from "./secrets.ts";
import type { Services } from "./services.ts";
import type { Store } from "./store.ts";

const upkeepEveryMs = 60_000;
const stopMayTakeMs = 1_000;

/** The files of a node. */
export type NodeFiles = ReturnType<typeof createNodeFiles>;

type Dependencies = Pick<Secrets, "tokenSecret"> & Pick<Limits, "use"> & Pick<Services, "sessions"> & { store: Store };

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

/** Creates the files of a node. */
export function createNodeFiles(context: Context, { tokenSecret, store, use, sessions }: Dependencies) {
  const { config, thread, clock, steadyClock, dependencies, repeat } = context;
  const figures = createFileFigures();
  const bytes = watchBytes(openBytes(config), { figures, outages: dependencies.files });
  const { HERALD_TOKEN_SECRET_PREVIOUS: previousSecret, HERALD_BASE_PATH: basePath } = config;
  const secrets = [tokenSecret, ...(previousSecret === undefined ? [] : [previousSecret])];
  const upkeep = createFileUpkeep({ upkeep: store.files, bytes, clock });
  const maxBytes = config.HERALD_LIMIT_FILE_BYTES;
  return {
    files: createFiles({ ...store, bytes, use, thread, maxBytes, figures, clock, elapsed: steadyClock }),
    fileAddresses: createFileAddresses({ sessions, files: store.files, secrets, basePath, clock }),
    fileFigures: figures,
    startUpkeep: () => void repeat(upkeep.run, upkeepEveryMs, upkeep.stop, stopMayTakeMs)(),
  };
}
