import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHerald, startServer, type TestServer } from "../testing/run-herald.ts";

const folder = mkdtempSync(join(tmpdir(), "herald-cli-errors-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (url: string, ...args: string[]) => runHerald(["nodes", "--key", "k", "--url", url, ...args]);

/** What a command says on stderr about a failure, without the prefix. */
async function complaint(url: string, exitCode: number, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run(url, ...args);
  expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
  expect(stderr).toStartWith("herald: ");
  return stderr.slice("herald: ".length).trimEnd().split("\n");
}

/** A TCP server that treats each connection in the same way. */
async function listen(treat: (socket: Socket) => void) {
  const server = createServer((socket) => treat(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return { port, url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() };
}

const serve = (answer: () => Response, tls?: { key: string; cert: string }) => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer, ...(tls && { tls }) });
  return { url: server.url.origin, port: server.port, [Symbol.dispose]: () => void server.stop(true) };
};

let certificate: { key: string; cert: string; file: string };
beforeAll(async () => {
  const [key, file] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const openssl = Bun.spawn([...made, "-keyout", key, "-out", file, "-days", "2", ...names], { stderr: "ignore" });
  expect(await openssl.exited).toBe(0);
  certificate = { key: await Bun.file(key).text(), cert: await Bun.file(file).text(), file };
});

describe("without a response, the cause is named once, with what to do", () => {
  test("connection refused", async () => {
    const { port } = await listen(() => undefined).then((server) => {
      server[Symbol.dispose]();
      return server;
    });
    const url = `http://127.0.0.1:${port}`;
    expect(await complaint(url, 3)).toEqual([
      `no response from ${url}: connection refused (ECONNREFUSED)`,
      "Start the server with `herald serve`, or give its address with --url.",
    ]);
  });

  test("an unknown host", async () => {
    expect(await complaint("http://nowhere.invalid:7070", 3)).toEqual([
      "no response from http://nowhere.invalid:7070: unknown host name (ENOTFOUND)",
      "Check the host name (from --url).",
    ]);
  });

  test("https to a port that speaks http", async () => {
    using server = serve(() => new Response("hello"));
    const url = server.url.replace("http:", "https:");
    expect(await complaint(url, 3)).toEqual([
      `no response from ${url}: the server speaks plain HTTP on this port, not HTTPS (EPROTO)`,
      `Use ${server.url} instead.`,
    ]);
  });

  test("http to a port that speaks https", async () => {
    using server = serve(() => new Response("hello"), certificate);
    const url = server.url.replace("https:", "http:");
    expect(await complaint(url, 3)).toEqual([
      `no response from ${url}: the server speaks HTTPS on this port, not plain HTTP (ECONNRESET)`,
      `Use ${server.url} instead.`,
    ]);
  });

  test("https to a port that speaks neither", async () => {
    using server = await listen((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
    const url = server.url.replace("http:", "https:");
    expect(await complaint(url, 3)).toEqual([
      `no response from ${url}: the TLS handshake failed (EPROTO)`,
      "Check the address (from --url).",
    ]);
    expect((await complaint(server.url, 3))[0]).toEndWith(
      ": what answers there does not speak HTTP (Malformed_HTTP_Response)",
    );
  });

  test("a self-signed certificate, which can be trusted", async () => {
    using server = serve(() => new Response("hello"), certificate);
    const [first, second] = await complaint(server.url, 3);
    expect(first).toBe(`no response from ${server.url}: its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)`);
    expect(second).toContain("NODE_EXTRA_CA_CERTS");
    const trusting = await runHerald(["nodes", "--key", "k", "--url", server.url], {
      env: { NODE_EXTRA_CA_CERTS: certificate.file },
    });
    expect(trusting.stderr).toContain("answered 200, but it is not a Herald server");
  });

  test("a server that does not answer in time", async () => {
    using server = await listen(() => undefined);
    const startedAt = performance.now();
    const [first, second, ...others] = await complaint(server.url, 3, "--timeout", "1");
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(first).toBe(`no response from ${server.url}: timed out after 1 s`);
    expect(second).toContain("--timeout");
    expect(others).toEqual([]);
  });

  test("a connection that is lost before the answer, or in the middle of it", async () => {
    using silent = await listen((socket) => socket.once("data", () => socket.resetAndDestroy()));
    using broken = await listen((socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", () => socket.resetAndDestroy());
      }),
    );
    for (const { url } of [silent, broken]) {
      expect(await complaint(url, 3)).toEqual([
        `no response from ${url}: the connection was closed before the response was complete (ECONNRESET)`,
        "The server may have stopped, or a proxy closed the connection. Look at the server's log, then try again.",
      ]);
    }
  });

  test("a send says last how to repeat it, and listen with a token names the cause, too", async () => {
    using server = await listen((socket) => socket.destroy());
    const send = ["send", "message", "--org", "o", "--from", "u", "--to", "c", "--key", "k", "--url", server.url];
    const sent = (await runHerald([...send, "--id", "one", "hi"])).stderr.trimEnd().split("\n");
    expect(sent).toHaveLength(3);
    expect(sent[2]).toBe("Send it again with --id one. If it was already stored, it is not sent twice.");
    const listened = await runHerald(["listen", "--token", "t", "--url", "http://127.0.0.1:1"]);
    expect(listened).toEqual({
      code: 3,
      stdout: "",
      stderr:
        "herald: no response from http://127.0.0.1:1: connection refused (ECONNREFUSED)\nStart the server with `herald serve`, or give its address with --url.\n",
    });
  });
});

describe("an answer that is not Herald's is told as such", () => {
  test.each([
    [
      "a web page",
      () => new Response("<h1>hello</h1>", { headers: { "Content-Type": "text/html" } }),
      1,
      "200, but it is",
    ],
    [
      "a proxy without a server",
      () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
      3,
      "a proxy there cannot reach",
    ],
    ["a redirect", () => Response.redirect("https://elsewhere.invalid/", 301), 1, "redirects to another address (301)"],
    ["a page that does not exist", () => new Response("Not found", { status: 404 }), 1, "404, but it is not a Herald"],
  ])("%s", async (_name, answer, exitCode, reason) => {
    using server = serve(answer);
    const lines = await complaint(server.url, exitCode);
    expect(lines[0]).toContain(reason);
    expect(lines).toHaveLength(2);
  });

  test("for listen, which is refused a WebSocket", async () => {
    using server = serve(() => new Response("<h1>hello</h1>"));
    const { code, stderr } = await runHerald(["listen", "--token", "t", "--url", server.url]);
    expect(code).toBe(3);
    expect(stderr).toContain("it answered 200 instead of opening a WebSocket");
  });
});

describe("a refusal says what the server said and what to do, each once", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const there = (...args: string[]) => runHerald([...args, "--url", server.url], { cwd: server.cwd });

  test("a wrong key, with where it comes from", async () => {
    const [first, second, ...others] = await complaint(server.url, 1);
    expect(first).toMatch(/^the server refused the request: 401 unauthorized: .* \[request \S+\]$/);
    expect(second).toStartWith("The key is from --key. Give a key of this server with --key or HERALD_ADMIN_API_KEY.");
    expect(others).toEqual([]);
  });

  test("a key without the scope, which is named", async () => {
    const created = await there("keys", "create", "--name", "k", "--scope", "observe");
    const refused = await there("users", "list", "--org", "demo", "--key", created.stdout.trim());
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      "403 insufficient_scope: this call requires a key with the scope `directory:read`",
    );
    expect(refused.stderr.split("\n")).toHaveLength(3);
  });

  test("what does not exist, with the command that creates it instead of the advice for callers of the API", async () => {
    const { stderr } = await there("conversations", "get", "nowhere", "--org", "demo");
    expect(stderr).toContain("404 conversation_not_found: the conversation `nowhere` does not exist [");
    expect(stderr).toContain("herald conversations put");
    expect(stderr).not.toContain("PUT");
  });

  test.each([
    [["keys", "get", "none"], "the API key `none` does not exist", "herald keys list"],
    [["schedule", "get", "none", "--org", "demo"], "the scheduled send `none` does not exist", "herald schedule list"],
    [["webhooks", "get", "none", "--org", "demo"], "the webhook `none` does not exist", "herald webhooks list"],
  ])("what %p does not find, with the command that lists what there is", async (words, what, list) => {
    const { stderr } = await there(...words);
    expect(stderr).toContain(`404 not_found: ${what}`);
    expect(stderr).toContain(list);
    expect(stderr).not.toContain("older");
  });

  test("each invalid value", async () => {
    const { stderr } = await there("users", "put", "u", "--org", "demo", "--name", "x".repeat(300));
    expect(stderr).toContain("422 invalid_request");
    expect(stderr).toContain("/name");
  });
});
