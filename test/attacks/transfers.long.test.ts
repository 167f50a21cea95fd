import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { importInto, messageLine } from "../contract/transfer/lines.ts";
import { eventually } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const requestsPerSecond = 100;
const herald = useHerald({
  oneNode: "a node counts its own transfers",
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: String(requestsPerSecond),
    HERALD_LIMIT_REQUESTS_BURST: String(requestsPerSecond),
  },
});

const ofOrganization = 4;
const ofNode = 64;
const linesPerRequest = 500;
const isRefused = "HTTP/1.1 429";
const faulty = "not JSON\n";
const aUser = [{ user: { id: "u" } }];

/** An import or export of which every byte is written and read by hand. */
async function openTransfer(org: Organization, what: "import" | "export", key = org.herald.key) {
  const { url } = org.herald;
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
  });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const chunk = (lines: string) => `${Buffer.byteLength(lines).toString(16)}\r\n${lines}\r\n`;
  const head = `${what === "import" ? "POST" : "GET"} ${org.path(what)} HTTP/1.1\r\nHost: ${host}\r\nAdmin-Api-Key: ${key}\r\n`;
  const ofLines = "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n";
  socket.write(`${head}${what === "import" ? ofLines : ""}\r\n`);
  return {
    write: (lines: string) => void socket.write(chunk(lines)),
    /** Writes lines; resolves when the kernel has room for more. */
    async taken(lines: string) {
      if (!socket.write(chunk(lines))) await once(socket, "drain");
    },
    end: () => void socket.write("0\r\n\r\n"),
    hear: (words: string) =>
      eventually(
        () => text.includes(words) || undefined,
        () => `${words} after ${text.slice(0, 500)}`,
      ),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    heard: () => text,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

type Transfer = Awaited<ReturnType<typeof openTransfer>>;

/** Begins imports that wait for more lines. The fault that each reports shows that it runs. */
async function openImports(org: Organization, count: number, key?: string): Promise<Transfer[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const transfer = await openTransfer(org, "import", key);
      transfer.write(faulty);
      await transfer.hear("malformed_json");
      return transfer;
    }),
  );
}

describe("imports (row 5)", () => {
  test("may be four at once in an organization: the next gets 429 until one has ended, others' go on", async () => {
    const [many, other] = [await createOrganization(herald()), await createOrganization(herald())];
    const [first, ...more] = await openImports(many, ofOrganization);
    using fifth = await openTransfer(many, "import");
    await fifth.hear("may run 4 imports at once");
    expect(fifth.heard()).toStartWith(isRefused);
    expect(fifth.heard()).toMatch(/^retry-after: 5\r$/im);
    expect(fifth.heard()).toContain("rate_limited");
    expect((await importInto(other, aUser)).end).toMatchObject({ done: true });
    first?.end();
    await first?.hear('"done":true');
    expect((await importInto(many, aUser)).end).toMatchObject({ done: true });
    for (const each of [first, ...more]) each?.[Symbol.dispose]();
    await eventually(async () => (await importInto(many, aUser)).status === 200 || undefined, "the places to be free");
  });

  test("may be 64 at once on a node", async () => {
    const orgs = await Promise.all(Array.from({ length: ofNode / ofOrganization }, () => createOrganization(herald())));
    const open = (await Promise.all(orgs.map((org) => openImports(org, ofOrganization)))).flat();
    const late = await createOrganization(herald());
    using refused = await openTransfer(late, "import");
    await refused.hear("this node may run 64 imports at once");
    expect(refused.heard()).toStartWith(isRefused);
    for (const each of open) each[Symbol.dispose]();
    await eventually(async () => (await importInto(late, aUser)).status === 200 || undefined, "the places to be free");
  });

  test("wait for the rate of their key, which they use up, and then go on", async () => {
    const org = await createOrganization(herald());
    const { key } = await createKey(herald(), { organization: org.id, scopes: ["directory:write", "directory:read"] });
    const requests = 1.4 * requestsPerSecond;
    const users = Array.from({ length: requests * linesPerRequest }, () => aUser[0] ?? {});
    const begunAt = performance.now();
    const { end } = await importInto(org, users, { key });
    expect(end).toEqual({ done: true, lines: users.length, failed: 0 });
    expect(performance.now() - begunAt).toBeGreaterThan(300); // 40 requests more than its burst
  });

  test("report faults as they come, also if every line is one", async () => {
    const [transfer = expect.unreachable()] = await openImports(await createOrganization(herald()), 1);
    const piece = `${"x".repeat(200)}\n`.repeat(500);
    const most = 2_000; // 200 MB, of which the kernel and Bun take some 20 before Herald has its turn
    let pieces = 0;
    while (!transfer.heard().includes('"lines":1000') && ++pieces < most) await transfer.taken(piece);
    transfer[Symbol.dispose]();
    expect(pieces).toBeLessThan(most);
  });

  test("read no further while nobody reads the report", async () => {
    const org = await createOrganization(herald());
    const { key } = await createKey(herald()); // whose rate is its own
    const [transfer = expect.unreachable()] = await openImports(org, 1, key);
    transfer.pause();
    const lines = 30_000; // a report of 9 MB, which is more than the kernel holds
    transfer.write(faulty.repeat(lines));
    transfer.end();
    using beside = await openTransfer(org, "import", key);
    for (let count = 0; count < lines / 1_000; count++) beside.write(faulty.repeat(1_000));
    beside.end();
    await beside.hear('"done":true'); // which takes as long as the other would
    expect(transfer.heard()).not.toContain('"done":true');
    transfer.resume();
    await transfer.hear(`"done":true,"lines":${lines + 1},"failed":${lines + 1}`);
    transfer[Symbol.dispose]();
  });
});

describe("exports (row 3)", () => {
  test("may be four at once in an organization, also if nobody reads them: the next gets 429 until one has ended", async () => {
    const org = await createOrganization(herald());
    const { key } = await createKey(herald());
    const body = "x".repeat(60_000);
    const messages = Array.from({ length: 200 }, (_, index) => messageLine(`m${index}`, index, { body }));
    await importInto(org, [{ conversation: { id: "room" } }, ...messages], { key }); // more than the kernel holds
    const open = await Promise.all(Array.from({ length: ofOrganization }, () => openTransfer(org, "export", key)));
    for (const each of open) {
      await each.hear("HTTP/1.1 200");
      each.pause();
    }
    using fifth = await openTransfer(org, "export", key);
    await fifth.hear("may run 4 exports at once");
    expect(fifth.heard()).toStartWith(isRefused);
    open[0]?.resume();
    await open[0]?.hear('"id":"m199"');
    const again = async () => {
      using sixth = await openTransfer(org, "export", key);
      await sixth.hear("HTTP/1.1");
      return sixth.heard().startsWith("HTTP/1.1 200") || undefined;
    };
    await eventually(again, "the place to be free");
    for (const each of open) each[Symbol.dispose]();
  });
});
