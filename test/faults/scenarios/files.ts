import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SpoiltLine, startSpoiltLine } from "../../harness/clients/spoilt-line.ts";
import { freePort } from "../../harness/engines/free-port.ts";
import { isRoot } from "../../harness/engines/installed.ts";
import { s3Settings, startS3 } from "../../harness/engines/s3.ts";
import { fillDisk, insideOf, withSmallDisk } from "../../harness/engines/small-disk.ts";
import { readSqliteLog } from "../../harness/reading/event-log.ts";
import { startNode } from "../../harness/servers/cluster.ts";
import { TEST_TOKEN_SECRET } from "../../harness/servers/herald.ts";
import { type FilesLedger, openFilesLedger } from "../files/ledger.ts";
import { defineScenario, type Stage } from "../scenario.ts";
import { type ClusterStage, onCluster } from "../stages.ts";

type WithFiles = { files: FilesLedger };
type BucketStage = ClusterStage & WithFiles & { line: SpoiltLine };
type FolderStage = Stage & WithFiles & { fillDisk(): () => void };

const kept = "Every file whose upload was answered 201 is there afterwards, to the byte";

async function describeCheck({ files }: WithFiles): Promise<string> {
  const { stored, refused, read, brokenOff } = await files.check();
  return `${stored} files stored and all of them read; ${refused} uploads refused, ${read} downloads, ${brokenOff} broken off`;
}

/** Three nodes whose files are in a bucket, over one line. */
async function onBucket(): Promise<BucketStage | undefined> {
  await using starting = new AsyncDisposableStack();
  const s3 = await startS3();
  if (s3 === undefined) return undefined;
  starting.defer(() => s3.kill());
  const line = await startSpoiltLine(s3.port);
  starting.defer(() => line.stop());
  const stage = await onCluster({ env: () => s3Settings(`http://127.0.0.1:${line.port}`) });
  if (stage === undefined) return undefined;
  starting.use(stage);
  const sizes = { small: [4, 40_000], large: [1_000_000, 10_000_000] } satisfies Record<string, [number, number]>;
  const files = await openFilesLedger({ nodes: stage.nodes, refusal: 503, isUnreadable: true, sizes });
  const all = starting.move();
  return { ...stage, files, line, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The bucket is out of reach for a while. */
export const filesStoreAway = defineScenario<BucketStage>({
  name: "files-store-away",
  row: "Files: the line of all nodes to the bucket is cut (moto, proxy) while files are uploaded and downloaded",
  expected: `Uploads and downloads are answered 503, but an upload of more than 1 MiB may be broken off instead; all sends are answered 201, also of messages with files. ${kept}.`,
  rounds: { short: 1, long: 8 },
  holdMs: { short: [500, 1_500], long: [500, 8_000] },
  allows: [],
  stage: onBucket,
  async break({ files, line }, { random }) {
    await files.begin(random.integer(1, 1_000_000_000));
    line.cut();
    return () => line.mend();
  },
  inspect: describeCheck,
});

/** One node whose files are on a small disk of their own. */
async function onSmallFolder(): Promise<FolderStage | undefined> {
  if (!isRoot("a small disk")) return undefined;
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "herald-files-"));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  const env = {
    HERALD_PORT: String(freePort()),
    HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    HERALD_FILES_URL: `file://${folder}`,
    HERALD_LIMIT_USER_REQUESTS: "0", // one user downloads as fast as it can
  };
  const node = starting.use(await startNode({ env, prefix: withSmallDisk(folder, 200) }));
  const sizes = { small: [4, 40_000], large: [100_000, 500_000] } satisfies Record<string, [number, number]>;
  const files = await openFilesLedger({ nodes: [node], refusal: 507, isUnreadable: false, sizes });
  const all = starting.move();
  return {
    nodes: [node],
    readLog: async (org) => readSqliteLog(node.herald.dataDir, org),
    files,
    fillDisk: () => fillDisk(insideOf(node.pid, folder)),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The disk of the files is full for a while. */
export const filesDiskFull = defineScenario<FolderStage>({
  name: "files-disk-full",
  row: "Files: their own disk is full (small tmpfs) while files are uploaded and downloaded",
  expected: `Uploads are answered 507 \`storage_full\`, downloads 200, all sends 201, also of messages with files. ${kept}.`,
  rounds: { short: 1, long: 6 },
  holdMs: { short: [300, 800], long: [500, 4_000] },
  allows: [],
  stage: onSmallFolder,
  async break({ files, fillDisk: fill }, { random }) {
    await files.begin(random.integer(1, 1_000_000_000));
    return fill();
  },
  inspect: describeCheck,
});
