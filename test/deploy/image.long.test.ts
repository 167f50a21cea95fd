import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import packageJson from "../../package.json" with { type: "json" };
import { isRoot, reportMissing } from "../harness/engines/installed.ts";
import { type UnpackedImage, unpackImage } from "../harness/engines/unpacked-image.ts";
import { messageOf } from "../harness/reading/expectations.ts";
import { errorsLogged, runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "herald-image-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const image = await buildImage();
afterAll(() => image?.[Symbol.dispose]());

/** Builds and unpacks the image; `undefined` if that cannot be done here, which is a failure under CI. */
async function buildImage(): Promise<UnpackedImage | undefined> {
  if (Bun.which("buildah") === null) return reportMissing("buildah", "buildah");
  if (!isRoot("run the contents of the image")) return undefined;
  const archive = join(folder, "image.tar");
  await $`${process.execPath} tools/release/image.ts --output ${archive}`.quiet();
  return await unpackImage(archive);
}

const ofImage = (run: (image: UnpackedImage) => Promise<void> | void) => async () => {
  if (image !== undefined) await run(image);
};

test(
  "the image holds the program, glibc, their licences, and nothing else",
  ofImage(({ root }) => {
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter(
        (entry) => !entry.isDirectory() && !/^(proc|dev|lib64)(\/|$)/.test(entry.parentPath.slice(root.length + 1)),
      )
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
    const loader = process.arch === "arm64" ? "lib/ld-linux-aarch64.so.1" : "lib/ld-linux-x86-64.so.2";
    expect(files.sort()).toEqual(
      [
        ...["etc/group", "etc/nsswitch.conf", "etc/passwd", "lib64", "usr/bin/herald", loader],
        ...["LICENSE", "glibc-licence.txt", "third-party-licences.txt"].map((name) => `usr/share/doc/herald/${name}`),
        ...["lib/libc.so.6", "lib/libdl.so.2", "lib/libm.so.6", "lib/libpthread.so.0"],
      ].sort(),
    );
    const { uid, gid, mode } = statSync(join(root, "data"));
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 65_532, gid: 65_532, mode: 0o700 });
  }),
);

test(
  "the image says how to run it: as a user with a number, on all addresses, with a volume",
  ofImage(({ config, environment }) => {
    expect(config).toMatchObject({
      User: "65532:65532",
      Entrypoint: ["herald"],
      Cmd: ["serve"],
      WorkingDir: "/data",
      StopSignal: "SIGTERM",
      ExposedPorts: { "7070/tcp": {} },
      Volumes: { "/data": {} },
      Healthcheck: { Test: ["CMD", "herald", "health", "--live"] },
      Labels: {
        "org.opencontainers.image.title": "Herald",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": packageJson.version,
        "org.opencontainers.image.revision": expect.stringMatching(/^[0-9a-f]{40}$/),
        "org.opencontainers.image.created": expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    });
    expect(environment).toEqual({ PATH: "/usr/bin", HERALD_HOST: "0.0.0.0", HERALD_DATA_DIR: "/data" });
  }),
);

test(
  "its contents run on a root that cannot be written to, deliver, are healthy, and stop when told",
  ofImage(async ({ config, environment, root, run }) => {
    const env = { ...environment, HERALD_HOST: "127.0.0.1" };
    const herald = await startHerald({ program: run(config.Entrypoint), dataDir: join(root, "data"), env });
    const [, ...healthCheck] = config.Healthcheck.Test;
    const check = () =>
      runHerald(
        healthCheck.slice(1),
        { ...env, HERALD_PORT: new URL(herald.url).port },
        { program: run(config.Entrypoint) },
      );
    expect(await check()).toMatchObject({ code: 0, stdout: "node: ok\nevent_loop: ok\n" });

    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    const bob = await org.socket("bob");
    const { server_mid } = await org.sent("alice", { cid, body: "from a container" });
    expect(messageOf(await bob.next())).toMatchObject({ _id: server_mid, body: "from a container" });

    expect(errorsLogged(herald)).toEqual([]);
    await herald.stop();
    expect(await check()).toMatchObject({ code: 3 });
    expect(readdirSync(join(root, "data"))).toContain("herald.db");
  }),
);
