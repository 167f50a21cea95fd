import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileHerald } from "../../../tools/build/compile.ts";
import { type DeployTools, findDeployTools } from "../../harness/engines/deploy-tools.ts";
import { useEngines } from "../../harness/engines.ts";
import { messageOf } from "../../harness/reading/expectations.ts";
import {
  callsTo,
  errorsLogged,
  type Herald,
  startHerald,
  TEST_KEY,
  TEST_TOKEN_SECRET,
} from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { type Container, type PodSpec, podsOf, renderChart } from "./rendered.ts";
import { valueSets } from "./value-sets.ts";

setDefaultTimeout(120_000);

const engines = await useEngines();
const tools = await findDeployTools();

const folder = mkdtempSync(join(tmpdir(), "herald-chart-"));
afterAll(() => rmSync(folder, { recursive: true }));
const binary = join(folder, "herald");
beforeAll(() => compileHerald(binary));

/** A Secret's data, by the Secret's name. */
type Secrets = Record<string, Record<string, string>>;

/** The environment that Kubernetes gives a container; throws if it refers to something that does not exist. */
function environmentOf({ env = [] }: Container, podName: string, secrets: Secrets): Record<string, string> {
  const resolved = env.map(({ name, value, valueFrom }) => {
    const { secretKeyRef: ref, fieldRef } = valueFrom ?? {};
    const found = value ?? (ref && secrets[ref.name]?.[ref.key]) ?? (fieldRef && podName);
    if (found === undefined) throw new Error(`nothing gives ${name}`);
    return [name, found];
  });
  return Object.fromEntries(resolved);
}

/** A container that runs as a process: `public` and `internal` are the URLs of its ports, `herald` calls the internal one. */
type RunningPod = { name: string; herald: Herald; public: string; internal: string };

/** Runs the container as a process on this machine, so with addresses and a data folder of its own. */
async function runPod({ containers: [container] }: PodSpec, name: string, secrets: Secrets): Promise<RunningPod> {
  const here = { HERALD_HOST: "127.0.0.1", HERALD_PORT: "0", HERALD_ADMIN_HOST: "127.0.0.1", HERALD_ADMIN_PORT: "0" };
  const env = { ...environmentOf(container, name, secrets), ...here, HERALD_DATA_DIR: join(folder, name) };
  const [, ...args] = container.args;
  const herald = await startHerald({ program: [binary], args, env });
  const internal = herald.logLines().find(({ msg }) => msg === "listening")?.admin_url;
  if (typeof internal !== "string") throw new Error(`${name} has no internal address: ${herald.logs()}`);
  const { http, admin } = callsTo(internal.replace(/\/$/, ""), { key: TEST_KEY });
  return { name, herald: { ...herald, http, admin }, public: herald.url, internal: internal.replace(/\/$/, "") };
}

async function startPods(tools: DeployTools, { postgres, nats }: NonNullable<typeof engines>) {
  const [pod] = podsOf(await renderChart(tools, valueSets.cluster));
  if (pod === undefined) throw new Error("the chart made no pod");
  const data = {
    HERALD_ADMIN_API_KEY: TEST_KEY,
    HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    HERALD_DATABASE_URL: await postgres.createDatabase(),
    HERALD_BUS_URL: nats.url,
  };
  const [first, second] = await Promise.all([
    runPod(pod, "herald-1", { herald: data }),
    runPod(pod, "herald-2", { herald: data }),
  ]);
  const dispose = () => Promise.all([first, second].map(({ herald }) => herald[Symbol.asyncDispose]()));
  return { pod, first, second, [Symbol.asyncDispose]: async () => void (await dispose()) };
}

describe.if(engines !== undefined && tools !== undefined)("two pods of the chart, as processes", () => {
  const start = () => startPods(tools as NonNullable<typeof tools>, engines as NonNullable<typeof engines>);

  test("are ready for their probes, know one another by their pods' names, and hear what the other one stores", async () => {
    await using pods = await start();
    const { pod, first, second } = pods;
    const [container] = pod.containers;
    for (const { herald, public: publicUrl, internal } of [first, second]) {
      for (const name of ["startupProbe", "livenessProbe", "readinessProbe"] as const) {
        const { path, port } = container[name]?.httpGet ?? { path: "", port: "" };
        expect((await fetch((port === "public" ? publicUrl : internal) + path)).status).toBe(200);
      }
      for (const path of ["/metrics", "/console", "/admin/nodes"])
        expect((await fetch(publicUrl + path)).status).toBe(404);
      expect((await herald.http("GET", "/metrics")).status).toBe(200);
    }
    const { items } = (await first.herald.admin<{ items: { name: string }[] }>("GET", "/admin/nodes")).body;
    expect(items.map(({ name }) => name).sort()).toEqual(["herald-1", "herald-2"]);

    const sender = await createOrganization(first.herald);
    const cid = await sender.conversation(["alice", "bob"]);
    const bob = await (await createOrganization(second.herald, sender.id)).socket("bob");
    const { server_mid } = await sender.sent("alice", { cid, body: "from one pod to another" });
    expect(messageOf(await bob.next())).toMatchObject({ _id: server_mid, body: "from one pod to another" });
    expect([first, second].flatMap(({ herald }) => errorsLogged(herald))).toEqual([]);
  });

  test("a pod that is told to stop closes its connections and ends before Kubernetes would kill it", async () => {
    await using pods = await start();
    const { pod, first, second } = pods;
    const org = await createOrganization(first.herald);
    const cid = await org.conversation(["alice", "bob"]);
    const bobs = await Promise.all(Array.from({ length: 20 }, () => org.socket("bob")));
    const { server_mid } = await org.sent("alice", { cid, body: "before" });
    for (const bob of bobs) await bob.next();

    const startedAt = performance.now();
    await first.herald.stop(); // SIGTERM; exit code 0
    const seconds = (performance.now() - startedAt) / 1000;
    const [{ lifecycle }] = pod.containers;
    expect(seconds).toBeLessThan(pod.terminationGracePeriodSeconds - (lifecycle?.preStop.sleep.seconds ?? 0));
    const codes = await Promise.all(bobs.map(({ closed }) => closed.then(({ code }) => code)));
    expect(new Set(codes)).toEqual(new Set([1012]));

    const there = await createOrganization(second.herald, org.id);
    const after = await there.sent("alice", { cid, body: "after" });
    const { socket } = await there.connect("bob", { since: server_mid });
    expect(messageOf(await socket.next())).toMatchObject({ _id: after.server_mid, body: "after" });
  });
});
