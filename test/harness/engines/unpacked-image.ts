import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { z } from "zod";

const manifestSchema = z.array(z.object({ Config: z.string(), Layers: z.array(z.string()) })).length(1);

const configSchema = z.object({
  architecture: z.string(),
  config: z.object({
    User: z.string(),
    Env: z.array(z.string()),
    Entrypoint: z.array(z.string()),
    Cmd: z.array(z.string()),
    WorkingDir: z.string(),
    StopSignal: z.string(),
    ExposedPorts: z.record(z.string(), z.unknown()),
    Volumes: z.record(z.string(), z.unknown()),
    Labels: z.record(z.string(), z.string()),
    Healthcheck: z.object({ Test: z.array(z.string()) }),
  }),
});

/** What an image says about how it is run. */
export type ImageConfig = z.infer<typeof configSchema>["config"];

/**
 * The contents of an image. `run` is the command that runs one of its programs as a container does: as its user, without
 * capabilities, with its own root that cannot be written to, but for `/data`. Disposing removes the contents.
 */
export type UnpackedImage = {
  readonly config: ImageConfig;
  readonly environment: Record<string, string>;
  readonly root: string;
  run(program: readonly string[]): string[];
} & Disposable;

/** Unpacks an archive as `docker save` makes it, of an image that was built from scratch. Needs root. */
export async function unpackImage(archive: string): Promise<UnpackedImage> {
  const folder = mkdtempSync(join(tmpdir(), "herald-image-"));
  const root = join(folder, "root");
  mkdirSync(root);
  await $`tar --extract --file ${archive} --directory ${folder}`.quiet();
  const [manifest] = manifestSchema.parse(await Bun.file(join(folder, "manifest.json")).json());
  for (const layer of manifest?.Layers ?? [])
    await $`tar --extract --preserve-permissions --numeric-owner --file ${join(folder, layer)} --directory ${root}`.quiet();
  const { config } = configSchema.parse(await Bun.file(join(folder, manifest?.Config ?? "")).json());
  const [uid, gid] = config.User.split(":");
  for (const name of ["proc", "dev"]) mkdirSync(join(root, name)); // which every runtime mounts
  const mounts = [
    'mount --bind "$0" "$0"',
    'mount --bind "$0/data" "$0/data"',
    'mount --rbind /proc "$0/proc"',
    'mount --rbind /dev "$0/dev"',
    'mount -o remount,bind,ro "$0"',
  ];
  const enter = `exec unshare --root "$0" --wd ${config.WorkingDir} --setgid ${gid} --setuid ${uid} -- "$@"`;
  return {
    config,
    environment: Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2))),
    root,
    run: (program) => ["unshare", "--mount", "sh", "-c", [...mounts, enter].join(" && "), root, ...program],
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
