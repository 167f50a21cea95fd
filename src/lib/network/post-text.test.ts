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

/** Answers every post with these bytes, and then waits, or closes. */
function serveBytes(answer: string, then?: "and close") {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.write(answer);
        socket.flush();
        if (then !== undefined) socket.end();
      },
    },
  });
  const url = new URL(`http://127.0.0.1:${server.port}/`);
  return { url, [Symbol.dispose]: () => server.stop(true) };
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

  test("is given up at the time-out if no answer begins", async () => {
    using server = serve(() => new Promise(() => undefined));
    await expect(postText(server.at("/"), { ...post, timeoutMs: 60 })).rejects.toThrow("no answer within 0.06 s");
  });

  const gigabyte = `HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n${"a".repeat(100_000)}`;
  test.each([
    ["a body that never begins", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 200, ""],
    ["a body that never ends", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nyes", 200, "yes"],
    ["chunks that never end", "HTTP/1.1 202 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n", 202, "yes"],
    ["neither a length nor an end", "HTTP/1.1 410 Gone\r\n\r\nno", 410, "no"],
    ["a gigabyte", gigabyte, 200, "aaaaaaaaaa"],
    ["headers alone", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""],
    [
      "a hint before it",
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes",
      200,
      "yes",
    ],
    [
      "a redirect whose body never ends",
      "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 5\r\n\r\nto",
      302,
      "to",
    ],
  ])("has the status of an answer with %s", async (_, answer, status, text) => {
    using server = serveBytes(answer);
    expect(await postText(server.url, post)).toEqual({ status, text });
  });

  test.each([
    ["breaks off", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nyes", "yes"],
    ["breaks off in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nyes", "yes"],
    ["has chunks that are none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", ""],
    ["is no gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nyes", "yes"],
  ])("has the status of an answer whose body %s", async (_, answer, text) => {
    using server = serveBytes(answer, "and close");
    const { status, text: read } = await postText(server.url, post);
    expect([status, text.startsWith(read)]).toEqual([200, true]);
  });

  test.each([
    ["seconds", "Retry-After: 120", 120_000],
    ["a date", "Date: Fri, 20 Nov 2026 13:06:00 GMT\r\nRetry-After: Fri, 20 Nov 2026 13:08:00 GMT", 120_000],
    ["a date that has passed", "Date: Fri, 20 Nov 2026 13:06:00 GMT\r\nRetry-After: Fri, 20 Nov 2026 13:00:00 GMT", 0],
    ["nonsense", "Retry-After: soon", undefined],
    ["a negative number", "Retry-After: -5", undefined],
    ["a huge number", `Retry-After: ${"9".repeat(400)}`, undefined],
    ["nothing", "X: y", undefined],
  ])("brings back when to try again, from %s", async (_, header, expected) => {
    using server = serveBytes(`HTTP/1.1 503 Later\r\n${header}\r\nContent-Length: 0\r\n\r\n`);
    expect((await postText(server.url, post)).retryAfterMs).toBe(expected);
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
