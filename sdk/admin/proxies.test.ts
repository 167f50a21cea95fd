import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "herald-proxy-"));
afterAll(() => rmSync(folder, { recursive: true }));
const program = join(folder, "program.ts");
writeFileSync(
  program,
  `import { createAdmin } from ${JSON.stringify(join(import.meta.dir, "../admin.ts"))};
const [url = ""] = process.argv.slice(2);
const admin = createAdmin({ url, key: "k", retries: 0 });
console.log(await admin.getHealth().then(() => "healthy", (error) => error.message));`,
);

/** What a program that calls `url` prints, with these variables. */
async function callFrom(environment: Record<string, string>, url: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? "", ...environment };
  const child = Bun.spawn([process.execPath, program, url], { env, stdout: "pipe" });
  return (await new Response(child.stdout).text()).trim();
}

test.each(["HTTP_PROXY", "http_proxy"])(
  "a dead proxy in %s is named, without its password, and not the server",
  async (name) => {
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ status: "ok" }) });
    const { origin, host } = server.url;
    const dead = { [name]: "http://user:zwiebel@127.0.0.1:1/" };
    expect(await callFrom(dead, origin)).toBe(
      `No response from ${origin} through the proxy 127.0.0.1:1 (from ${name}): connection refused (ECONNREFUSED). Check the proxy, or name ${host} in NO_PROXY to do without it.`,
    );
    for (const exception of [host, "127.0.0.1", "*", "elsewhere, 127.0.0.1"])
      expect(await callFrom({ ...dead, NO_PROXY: exception }, origin)).toBe("healthy");
  },
);

test("a proxy that answers by itself is named, too", async () => {
  using proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status: 502 }) });
  expect(await callFrom({ HTTP_PROXY: proxy.url.origin }, "http://herald.test")).toStartWith(
    `502 not_herald: http://herald.test responded with 502 through the proxy ${proxy.url.host} (from HTTP_PROXY), but not like a Herald server.`,
  );
});
