import { describe, expect, test } from "bun:test";
import type { lookup } from "node:dns";
import { hostname } from "node:os";
import { type Post, postText } from "./post-text.ts";
import { createPublicLookup } from "./public-lookup.ts";

const post: Post = {
  body: "grüezi",
  headers: { "Content-Type": "text/plain", "webhook-id": "1" },
  allowsPrivate: true,
  timeoutMs: 20_000,
  maxAnswerBytes: 10,
};

function serve(answer: (request: Request) => Response | Promise<Response>, address = "127.0.0.1", port = 0) {
  const bodies: string[] = [];
  const server = Bun.serve({
    port,
    hostname: address,
    async fetch(request) {
      bodies.push(await request.clone().text());
      return answer(request);
    },
  });
  const at = (path: string, host = address) => new URL(`http://${host}:${server.port}${path}`);
  return { at, bodies, port: server.port ?? 0, [Symbol.dispose]: () => void server.stop(true) };
}

describe("a post", () => {
  test("arrives with its bytes and headers, and brings back the status and the beginning of the answer", async () => {
    using server = serve((request) => {
      const { headers } = request;
      return new Response(`${headers.get("webhook-id")} ${headers.get("content-type")} and more`, { status: 202 });
    });
    expect(await postText(server.at("/"), post)).toEqual({ status: 202, text: "1 text/pla" });
    expect(server.bodies).toEqual(["grüezi"]);
  });

  test("is not repeated where a redirect leads", async () => {
    using server = serve(() => new Response(null, { status: 307, headers: { Location: "/secret" } }));
    expect((await postText(server.at("/"), post)).status).toBe(307);
    expect(server.bodies.length).toBe(1);
  });

  test("is given up at the time-out, whether no answer begins or it never ends", async () => {
    using server = serve(({ url }) =>
      url.endsWith("/silent")
        ? new Promise(() => undefined)
        : new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(3)) })),
    );
    const hurried = { ...post, timeoutMs: 60 };
    await expect(postText(server.at("/silent"), hurried)).rejects.toThrow("no answer within 0.06 s");
    await expect(postText(server.at("/endless"), hurried)).rejects.toThrow("no answer within 0.06 s");
  });

  test("names why nobody could be reached", async () => {
    using server = serve(() => new Response());
    const gone = server.at("/");
    server[Symbol.dispose]();
    await expect(postText(gone, post)).rejects.toThrow();
  });
});

describe("a post that must go to a public address", () => {
  const guarded = { ...post, allowsPrivate: false };

  test.each([
    "https://127.0.0.1/",
    "https://localhost/",
    "https://api.localhost/",
    "https://10.1.2.3/",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0/",
    "https://100.64.0.1/",
    "https://[64:ff9b::7f00:1]/",
  ])("is not sent to %s", async (url) => {
    await expect(postText(new URL(url), guarded)).rejects.toThrow("is not a public address");
  });

  test("is not sent without TLS", async () => {
    await expect(postText(new URL("http://example.org/"), guarded)).rejects.toThrow("must begin with https://");
  });

  test("is not sent to a name that leads to a private address", async () => {
    using server = serve(() => new Response(), "0.0.0.0");
    const url = new URL(`https://${hostname()}:${server.port}/`);
    await expect(postText(url, guarded)).rejects.toThrow("which is not a public address");
    expect(server.bodies).toEqual([]);
  });

  test("goes to the address that was checked, whatever the name resolves to a moment later", async () => {
    using good = serve(() => new Response("good"), "127.0.0.2");
    using bad = serve(() => new Response("bad"), "127.0.0.1", good.port);
    let lookups = 0;
    // Of a name whose owner changes it between two lookups. 127.0.0.2 stands for a public address.
    const rebinding = ((name: string, _: object, callback: (error: null, found: object[]) => void) => {
      expect(name).toBe("rebinding.example");
      callback(null, [{ address: ++lookups === 1 ? "127.0.0.2" : "127.0.0.1", family: 4 }]);
    }) as typeof lookup;
    const lookupOnce = createPublicLookup(rebinding, (address) => address === "127.0.0.2");
    const url = new URL(`http://rebinding.example:${good.port}/`);
    const open = { ...post, lookup: lookupOnce };
    expect((await postText(url, open)).text).toBe("good");
    await expect(postText(url, open)).rejects.toThrow("resolves to 127.0.0.1, which is not a public address");
    expect([good.bodies.length, bad.bodies.length]).toEqual([1, 0]);
  });
});
