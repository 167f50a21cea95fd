import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { createClient } from "../client.ts";
import { HeraldArgumentError } from "../errors.ts";
import { verifyWebhook } from "../webhooks.ts";
import { createAdmin } from "./admin.ts";
import { issueUserToken } from "./user-token.ts";

const url = "http://127.0.0.1:7070";
/** All that a person or a log may see of an error. */
const shown = (error: unknown) => `${Bun.inspect(error)} ${String(error)} ${JSON.stringify(error)}`;

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("secrets", () => {
  const bad = [
    "hk_zwiebel\n1f",
    "hk_zwiébel",
    "hk_zwiebel1f word",
    "\u201chk_zwiebel1f\u201d",
    "hk_zwiebel1f\u0000",
    "hk_zwiebel1f\tx",
  ];

  test.each(bad)("a key that cannot be one is refused by the constructor, and not repeated: %j", (key) => {
    const error = thrownBy(() => createAdmin({ url, key }));
    expect(error).toBeInstanceOf(HeraldArgumentError);
    expect(shown(error)).not.toMatch(/zwi[eé]bel/);
    expect(String(error)).toContain("at position");
  });

  test("what is no text is named", () => {
    for (const key of [undefined, null, 7, { key: "hk_zwiebel1f" }])
      expect(thrownBy(() => createAdmin(JSON.parse(JSON.stringify({ url, key }))))).toMatchObject({
        message: expect.stringMatching(/^The API key is not text but /),
      });
  });

  test("white space around a key is not sent, and without a key the server says what is missing", async () => {
    const keys: (string | null)[] = [];
    const fetch = async (_url: string, init: RequestInit) => {
      keys.push(new Headers(init.headers).get("Admin-Api-Key"));
      return Response.json({ items: [], cursor: null });
    };
    for (const key of [" \thk_zwiebel1f\r\n", "\ufeffhk_zwiebel1f", "", "\n"])
      await createAdmin({ url, key, fetch }).listOrganizations();
    expect(keys).toEqual(["hk_zwiebel1f", "hk_zwiebel1f", null, null]);
  });

  test("other values of headers are refused the same way, once, before anything is sent", async () => {
    let calls = 0;
    const fetch = async () => {
      calls += 1;
      return new Response();
    };
    const admin = createAdmin({ url, key: "k", fetch });
    for (const call of [
      () => admin.getMetrics({ token: "zwi\nebel" }),
      () => admin.upload("o", "n", "bytes", { contentType: "text/zwi\nebel" }),
    ]) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(HeraldArgumentError);
      expect(shown(error)).not.toContain("zwi\nebel");
    }
    expect(calls).toBe(0);
  });

  test("the secrets of webhooks and of tokens are not repeated, either", async () => {
    const body = "{}";
    const webhook = verifyWebhook({ headers: {}, body, secret: "whsec_é-zwiebel" }).catch((thrown: unknown) => thrown);
    const token = issueUserToken({ secret: "a-zwiebel", organization: "o", user: "u" }).catch(
      (thrown: unknown) => thrown,
    );
    for (const error of [await webhook, await token]) {
      expect(error).toBeInstanceOf(HeraldArgumentError);
      expect(shown(error)).not.toMatch(/zwiebel/);
    }
    const padded = await verifyWebhook({ headers: {}, body, secret: " whsec_c2VjcmV0\n" }).catch(
      (thrown: unknown) => thrown,
    );
    expect(padded).toMatchObject({ name: "HeraldWebhookError", code: "missing_header" });
  });
});

describe("addresses", () => {
  test.each([
    ["127.0.0.1:7070", "http://127.0.0.1:7070"],
    ["localhost:7070", "http://localhost:7070"],
    ["herald.example.org", "http://herald.example.org"],
    ["", "http://127.0.0.1:7070"],
    ["ftp://host", "http://127.0.0.1:7070"],
    ["http://", "http://127.0.0.1:7070"],
    ["http:// host", "http://127.0.0.1:7070"],
    ["wss://host", "http://127.0.0.1:7070"],
  ])("%j is refused with what to write", (given, example) => {
    const error = thrownBy(() => createAdmin({ url: given, key: "k" }));
    expect(error).toBeInstanceOf(HeraldArgumentError);
    expect(error).toMatchObject({
      message: `url must begin with http:// or https://, such as ${example}, not be ${JSON.stringify(given)}.`,
    });
  });

  test("credentials in an address are refused, and not repeated", () => {
    for (const given of [
      "http://user:zwiebel@host",
      "user:zwiebel@host:7070",
      "//user:zwiebel@host",
      "host?key=zwiebel",
      "hk_zwiebel",
    ]) {
      const errors = [
        thrownBy(() => createAdmin({ url: given, key: "k" })),
        thrownBy(() => createClient({ url: given, token: () => "t" })),
      ];
      for (const error of errors) {
        expect(error).toBeInstanceOf(TypeError);
        expect(shown(error)).not.toContain("zwiebel");
        expect(String(error)).toContain("url must");
      }
    }
  });

  test.each(["", "127.0.0.1:7070", "localhost:7070", "http://", "http://a b", "ftp://h"])(
    "a client says what to write instead of %j",
    (given) => {
      expect(() => createClient({ url: given, token: () => "t" })).toThrow(
        "url must be the server's address, such as http://127.0.0.1:7070",
      );
    },
  );

  test("white space around an address is no part of it", async () => {
    const urls: string[] = [];
    const fetch = async (asked: string) => {
      urls.push(asked);
      return Response.json({});
    };
    await createAdmin({ url: " https://herald.example.org/base/ \n", key: "k", fetch }).getHealth();
    expect(urls).toEqual(["https://herald.example.org/base/healthz"]);
  });
});

/** A TCP server that does this with each connection. */
async function listen(treat: (socket: Socket) => void) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    treat(socket.on("error", () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  return { host, count: () => connections, [Symbol.dispose]: () => void server.close() };
}

describe("failures that no retry mends end the call at once", () => {
  test("https to a port that speaks http", async () => {
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
    const admin = createAdmin({ url: `https://${server.url.host}`, key: "k" });
    await expect(admin.getHealth()).rejects.toThrow(
      `No response from https://${server.url.host}: the server speaks plain HTTP on this port, not HTTPS (EPROTO). Use http://${server.url.host} instead.`,
    );
  });

  test("an HTTPS address where nothing that answers is HTTP is tried again", async () => {
    using server = await listen((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
    const admin = createAdmin({ url: `https://${server.host}`, key: "k", retries: 1 });
    await expect(admin.getHealth()).rejects.toThrow("the TLS handshake failed (EPROTO)");
    expect(server.count()).toBeGreaterThanOrEqual(2);
  });
});
