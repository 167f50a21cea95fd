import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { within } from "../harness/deadline.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { isRoot, reportMissing } from "../harness/engines/installed.ts";
import { findNats } from "../harness/engines/nats.ts";

/** Two NATS servers that forward messages to each other, over a network that can be cut. */
export type NatsPair = {
  /** One per server. */
  urls: [string, string];
  /** Drops packets between the servers; their clients stay connected and are told nothing. */
  partition(): void;
  mend(): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Starts the second server in a network namespace of its own. Two pairs of virtual interfaces lead there: one for
 * clients, one for traffic between the servers, of which only the latter is cut. Namespace and interfaces end with the
 * server. `undefined` if NATS is not installed or the user may not create namespaces.
 */
export async function startNatsPair(): Promise<NatsPair | undefined> {
  const program = findNats() ?? reportMissing("NATS", "nats-server");
  if (program === undefined) return undefined;
  if (!isRoot("network namespaces")) return undefined;
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "herald-nats-"));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));

  const network = 1 + Math.floor(Math.random() * 250);
  const address = (link: "clients" | "routes", end: 1 | 2) => `10.${link === "clients" ? 213 : 214}.${network}.${end}`;
  const ports = [freePort(), freePort()] as const;
  const routePort = freePort();

  /** Pings are frequent, so that a cut route is noticed within seconds. */
  function configure(name: string, listen: string, cluster: string): string {
    const file = join(folder, `${name}.conf`);
    const lines = [
      `server_name: ${name}`,
      `listen: ${listen}`,
      'ping_interval: "2s"',
      `cluster { name: pair, ${cluster} }`,
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    return file;
  }

  function spawn(command: string[]) {
    const child = Bun.spawn(command, { stdin: "pipe", stdout: "ignore", stderr: "pipe" });
    const end = () => child.kill("SIGKILL");
    process.on("exit", end);
    starting.defer(async () => {
      process.off("exit", end);
      end();
      await child.exited;
    });
    return child;
  }

  // The second one waits for its network before it becomes the server.
  const second = configure(
    "second",
    `${address("clients", 2)}:${ports[1]}`,
    `listen: "${address("routes", 2)}:${routePort}", no_advertise: true, routes: ["nats://${address("routes", 1)}:${routePort}"]`,
  );
  const there = spawn(["unshare", "--net", "sh", "-c", 'echo ready >&2; read go; exec "$0" -c "$1"', program, second]);
  const thereLog = readLog(there.stderr);
  await thereLog.says("ready");
  const links = { clients: connectTo(there.pid, "c"), routes: connectTo(there.pid, "r") };
  for (const link of ["clients", "routes"] as const) {
    ip("address", "add", `${address(link, 1)}/30`, "dev", links[link].here);
    ip("link", "set", links[link].here, "up");
    inside("address", "add", `${address(link, 2)}/30`, "dev", links[link].there);
    inside("link", "set", links[link].there, "up");
  }

  const first = configure(
    "first",
    `127.0.0.1:${ports[0]}`,
    `listen: "${address("routes", 1)}:${routePort}", no_advertise: true`,
  );
  const hereLog = readLog(spawn([program, "-c", first]).stderr);
  await hereLog.says("Server is ready");
  await there.stdin.write("go\n");
  await there.stdin.end();
  await thereLog.says("Server is ready");
  await thereLog.says("Route connection created");

  /** Creates a pair of virtual interfaces, one end here and one in the namespace of a process. */
  function connectTo(pid: number, name: string): { here: string; there: string } {
    const ends = { here: `hf${name}${pid}`, there: `hg${name}${pid}` };
    ip("link", "add", ends.here, "type", "veth", "peer", "name", ends.there, "netns", String(pid));
    return ends;
  }

  function inside(...args: string[]): void {
    run("nsenter", "--net", "--target", String(there.pid), "ip", ...args);
  }

  const running = starting.move();
  return {
    urls: [`nats://127.0.0.1:${ports[0]}`, `nats://${address("clients", 2)}:${ports[1]}`],
    partition: () => inside("link", "set", links.routes.there, "down"),
    mend: () => inside("link", "set", links.routes.there, "up"),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function ip(...args: string[]): void {
  run("ip", ...args);
}

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
}

/** Reads a log to its end; `says` resolves once it contains a text. */
function readLog(stream: ReadableStream<Uint8Array>): { says(text: string): Promise<void> } {
  let log = "";
  let onMore = () => {};
  void (async () => {
    for await (const chunk of stream) {
      log += new TextDecoder().decode(chunk);
      onMore();
    }
  })();
  return {
    says: (text) =>
      within(
        new Promise((resolve) => {
          onMore = () => {
            if (log.includes(text)) resolve();
          };
          onMore();
        }),
        () => `"${text}" in the log of nats-server, which says:\n${log}`,
      ),
  };
}
