import { describe, expect, test } from "bun:test";
import { hostname } from "node:os";
import { fetchDocument } from "./fetch-document.ts";

const limits = { allowsPrivate: false, timeoutMs: 20_000, maxBytes: 1000 };

function serve(answer: (path: string) => Response | Promise<Response>) {
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      return answer(pathname);
    },
  });
  const at = (path: string, host = "127.0.0.1") => new URL(`http://${host}:${server.port}${path}`);
  return { at, asked, [Symbol.dispose]: () => void server.stop(true) };
}

describe("a document", () => {
  test("is fetched completely, up to the maximum size", async () => {
    using server = serve((path) => new Response("é".repeat(Number(path.slice(1)))));
    expect(await fetchDocument(server.at("/500"), limits)).toBe("é".repeat(500));
    await expect(fetchDocument(server.at("/501"), limits)).rejects.toThrow("more than 1000 bytes");
  });

  test("is abandoned at the maximum size if it never ends, and at the time-out if it never comes", async () => {
    using server = serve((path) =>
      path === "/silent"
        ? new Promise(() => undefined)
        : new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100)) })),
    );
    await expect(fetchDocument(server.at("/endless"), limits)).rejects.toThrow("more than 1000 bytes");
    await expect(fetchDocument(server.at("/silent"), { ...limits, timeoutMs: 50 })).rejects.toThrow("aborted");
  });

  test("is not fetched from the target of a redirect", async () => {
    using server = serve((path) =>
      path === "/" ? new Response(null, { status: 302, headers: { Location: "/secret" } }) : new Response("secret"),
    );
    await expect(fetchDocument(server.at("/"), limits)).rejects.toThrow("redirects are not followed");
    expect(server.asked).toEqual(["/"]);
  });

  test("is not requested if a name leads to a private address, unless that is allowed", async () => {
    using server = serve(() => new Response("private"));
    // The machine's own name, which resolves to an address of its own network on every machine that runs this.
    const url = server.at("/", hostname());
    await expect(fetchDocument(url, limits)).rejects.toThrow("not a public address");
    expect(server.asked).toEqual([]);
    expect(await fetchDocument(url, { ...limits, allowsPrivate: true })).toBe("private");
  });
});
