import { resolve } from "node:path";
import { eventually } from "../deadline.ts";
import { freePort } from "./free-port.ts";
import { findPython, keepEnvironment } from "./python.ts";

const pins = resolve(import.meta.dir, "../../files/moto.txt");
const bucket = "herald-files";
const keys = { accessKeyId: "test", secretAccessKey: "test-secret" };

/** A suite's own S3-compatible server (moto), with one empty bucket. */
export type S3 = Awaited<ReturnType<typeof launch>>;

/** The settings of a node that keeps its files there, by this address. */
export function s3Settings(endpoint: string): Record<string, string> {
  return {
    HERALD_FILES_URL: `s3://${bucket}/some/prefix`,
    HERALD_FILES_S3_ENDPOINT: endpoint,
    HERALD_FILES_S3_REGION: "us-east-1",
    HERALD_FILES_S3_ACCESS_KEY_ID: keys.accessKeyId,
    HERALD_FILES_S3_SECRET_ACCESS_KEY: keys.secretAccessKey,
  };
}

/** Starts a server; `undefined` if Python is not installed, which is a failure under CI. */
export async function startS3(): Promise<S3 | undefined> {
  const python = await findPython();
  return python === undefined ? undefined : await launch(await keepEnvironment(python, pins));
}

async function launch(python: string) {
  const port = freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const child = Bun.spawn([python, "-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)], {
    stdout: "ignore",
    stderr: "ignore",
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const create = async () =>
    (await fetch(`${endpoint}/${bucket}`, { method: "PUT" }).catch(() => undefined))?.ok || undefined;
  await eventually(create, "the S3 server");
  const client = new Bun.S3Client({ bucket, endpoint, region: "us-east-1", ...keys });
  return {
    client,
    port,
    settings: s3Settings(endpoint),
    /** The keys of all objects. */
    objects: async () => ((await client.list()).contents ?? []).map(({ key }) => key),
    /** The number of uploads in parts that neither ended nor were given up. */
    async unfinished() {
      const text = await (await fetch(`${endpoint}/${bucket}?uploads`)).text();
      return text.match(/<UploadId>/g)?.length ?? 0;
    },
    /** SIGKILL; its objects are gone. */
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
