import { expect, test } from "bun:test";
import { startHerald, useHerald } from "../harness/servers/herald.ts";

const env = { HERALD_DEMO: "1" };
const herald = useHerald({ oneNode: "it starts another to compare with", env });

const documents = [
  "/openapi.json",
  "/asyncapi.json",
  "/docs",
  "/docs/api/messages",
  "/docs/realtime",
  "/docs/errors",
  "/docs/errors/not_found",
  "/docs/errors/not_found.md",
  "/docs/close-codes/1012",
  "/docs/how-to/receive",
  "/docs/how-to/receive.md",
  "/docs/search.js",
  "/docs/search.json",
  "/llms.txt",
  "/console",
  "/console/demo",
];

type Ask = { method?: string; headers?: Record<string, string> };

async function ask(path: string, { method = "GET", headers = {} }: Ask = {}) {
  return await herald().http<unknown>(method, path, { headers: { "Accept-Encoding": "identity", ...headers } });
}

async function assets(): Promise<string[]> {
  const { text } = await ask("/console");
  return [...text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
}

test("a client is not sent again what it has: strong entity tags for documents, pages and assets, also with HEAD", async () => {
  for (const path of [...documents, ...(await assets())]) {
    const first = await ask(path);
    const etag = first.headers.get("etag") ?? "";
    expect({ path, status: first.status, etag }).toEqual({
      path,
      status: 200,
      etag: expect.stringMatching(/^"[!#-~]+"$/),
    });
    expect(first.headers.get("cache-control")).toMatch(/^(no-cache|public, max-age=31536000, immutable)$/);
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const again = await ask(path, { method, headers: { "If-None-Match": tags } });
        expect({ path, method, tags, status: again.status, text: again.text }).toEqual({
          ...{ path, method, tags },
          status: 304,
          text: "",
        });
        for (const name of ["etag", "cache-control", "vary"])
          expect([path, name, again.headers.get(name)]).toEqual([path, name, first.headers.get(name)]);
      }
    }
    for (const tags of ['"other"', `"x${etag.slice(1)}`, etag.slice(1, -1), ""]) {
      const other = await ask(path, { headers: { "If-None-Match": tags } });
      expect([path, tags, other.status, other.text === first.text]).toEqual([path, tags, 200, true]);
    }
    const head = await ask(path, { method: "HEAD" });
    expect([path, head.status, head.headers.get("etag"), head.text]).toEqual([path, 200, etag, ""]);
  }
});

test.each([
  "/openapi.json",
  "/asyncapi.json",
  "/console",
  "/docs/api/messages",
  "/docs/how-to/receive",
  "/docs/how-to/receive.md",
  "/llms.txt",
])("each encoding of %s has its own tag, because its bytes differ, and says the same", async (path) => {
  const tags: string[] = [];
  const { text } = await ask(path);
  for (const encoding of ["br", "gzip", "identity"]) {
    const answer = await ask(path, { headers: { "Accept-Encoding": encoding } });
    const sent = answer.headers.get("content-encoding");
    expect([sent ?? "identity", answer.headers.get("vary")]).toEqual([encoding, "Accept-Encoding"]);
    expect(answer.text === text).toBe(true);
    const etag = answer.headers.get("etag") ?? "";
    tags.push(etag);
    const known = { "Accept-Encoding": encoding, "If-None-Match": etag };
    expect((await ask(path, { headers: known })).status).toBe(304);
  }
  expect(new Set(tags).size).toBe(3);
  const [br = ""] = tags;
  expect((await ask(path, { headers: { "If-None-Match": br } })).status).toBe(200);
});

test("nodes of one version give the same tags, and other limits other ones", async () => {
  const tagsOf = async (http: ReturnType<typeof herald>["http"]) =>
    await Promise.all(
      documents.map(async (path) =>
        (await http("GET", path, { headers: { Host: "herald.example.org" } })).headers.get("etag"),
      ),
    );
  await using same = await startHerald({ env });
  await using other = await startHerald({ env: { ...env, HERALD_LIMIT_ATTACHMENTS: "7" } });
  const tags = await tagsOf(herald().http);
  expect(await tagsOf(same.http)).toEqual(tags);
  expect((await tagsOf(other.http))[0]).not.toBe(tags[0]);
  await Promise.all([same.stop(), other.stop()]);
});
