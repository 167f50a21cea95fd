import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { readTls } from "../../src/lib/tls/tls-files.ts";
import { openSocket } from "../harness/clients/socket.ts";
import { eventually, within } from "../harness/deadline.ts";
import { type Authority, createAuthority } from "../harness/engines/certificates.ts";
import { type Herald, runHerald, startHerald, TEST_KEY } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const authority = createAuthority();

/** The settings of a server whose files may be replaced. */
function settingsIn({ folder, issue }: Authority, name: string) {
  const files = { cert: join(folder, `${name}-used.crt`), key: join(folder, `${name}-used.key`) };
  const use = (issued: string) => {
    const { cert, key } = issue(issued);
    copyFileSync(cert, files.cert);
    copyFileSync(key, files.key);
  };
  use(`${name}-1`);
  return { files, use, env: { HERALD_TLS_CERT: files.cert, HERALD_TLS_KEY: files.key } };
}

/** The common name of the certificate that a new connection sees. */
async function nameServed({ url }: Herald, ca: string): Promise<string> {
  const seen = Promise.withResolvers<string>();
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), ca }, () =>
    seen.resolve(String(socket.getPeerCertificate().subject.CN)),
  );
  socket.on("error", seen.reject);
  try {
    return await within(seen.promise, "a TLS handshake");
  } finally {
    socket.destroy();
  }
}

/**
 * The suite that openssl and the server agree on; with `suite`, TLS 1.2 with only that. `(NONE)` means that they agree
 * on none.
 */
async function suiteAgreed({ url }: Herald, suite?: string): Promise<string | undefined> {
  const wanted = suite === undefined ? ["-tls1_3"] : ["-tls1_2", "-cipher", `${suite}:@SECLEVEL=0`];
  const client = Bun.spawn(["openssl", "s_client", "-connect", new URL(url).host, ...wanted], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  return /Cipher is (\S+)/.exec(await within(new Response(client.stdout).text(), "openssl"))?.[1];
}

if (authority !== undefined) {
  const { ca, caFile } = authority;
  process.on("exit", () => authority[Symbol.dispose]());

  describe("with HERALD_TLS_CERT and HERALD_TLS_KEY", () => {
    test("calls, sockets and streams use TLS, and browsers are told to keep doing so", async () => {
      const { env } = settingsIn(authority, "plain");
      await using herald = await startHerald({ env, ca });
      expect(herald.url).toStartWith("https://127.0.0.1:");
      const org = await createOrganization(herald);
      const cid = await org.conversation(["alice", "bob"]);
      using alice = await openSocket(herald.url, { ca, uid: "alice" });
      expect((await alice.request("connect", { token: await org.token("alice") })).success).toBe(true);
      const answer = await org.send("bob", { cid, body: "x" });
      expect((await alice.next()).message?.body).toBe("x");
      const answers = [
        answer,
        await herald.http("GET", "/docs"),
        await herald.http("GET", "/ws"),
        await herald.http("GET", "/sse"),
      ];
      for (const { headers } of answers) expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
      await expect(fetch(`${herald.url}/healthz`)).rejects.toThrow(); // a client that does not know the authority
      await herald.stop();
    });

    test("TLS 1.2 has only forward secrecy and authenticated encryption, before and after a change of the certificate", async () => {
      const { env, use } = settingsIn(authority, "suites");
      await using herald = await startHerald({ env, ca });
      for (const name of ["suites-1", "suites-2"]) {
        if (name !== "suites-1") use(name);
        herald.signal("SIGHUP");
        await eventually(
          async () => ((await nameServed(herald, ca).catch(() => "")) === name ? true : undefined),
          "the certificate",
        );
        for (const suite of ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"])
          expect(await suiteAgreed(herald, `ECDHE-ECDSA-${suite}`)).toBe(`ECDHE-ECDSA-${suite}`);
        for (const suite of [
          "ECDHE-ECDSA-AES128-SHA",
          "ECDHE-ECDSA-AES256-SHA",
          "ECDHE-ECDSA-AES128-SHA256",
          "AES128-SHA",
        ])
          expect(await suiteAgreed(herald, suite)).toBe("(NONE)");
        expect(await suiteAgreed(herald)).toStartWith("TLS_AES_");
      }
      await herald.stop();
    });

    test("HERALD_TLS_CIPHERS narrows the suites of TLS 1.2, and leaves TLS 1.3 unchanged", async () => {
      const { env } = settingsIn(authority, "narrow");
      const only = "ECDHE-ECDSA-AES256-GCM-SHA384";
      await using herald = await startHerald({ env: { ...env, HERALD_TLS_CIPHERS: only }, ca });
      expect(await suiteAgreed(herald, `${only}:ECDHE-ECDSA-AES128-GCM-SHA256`)).toBe(only);
      expect(await suiteAgreed(herald, "ECDHE-ECDSA-AES128-GCM-SHA256")).toBe("(NONE)");
      expect(await suiteAgreed(herald)).toStartWith("TLS_AES_");
      await herald.stop();
    });

    test("a changed certificate is adopted on SIGHUP; sockets, streams and requests stay, and miss nothing", async () => {
      const { env, use } = settingsIn(authority, "hup");
      await using herald = await startHerald({ env, ca });
      const org = await createOrganization(herald);
      const cid = await org.conversation(["alice", "bob"]);
      const token = await org.token("alice");
      using socket = await openSocket(herald.url, { ca, uid: "alice" });
      await socket.request("connect", { token });
      const stream = await fetch(`${herald.url}/sse`, { headers: { Authorization: `Bearer ${token}` }, tls: { ca } });
      const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
      expect(await nameServed(herald, ca)).toBe("hup-1");
      for (const [index, name] of ["hup-2", "hup-3"].entries()) {
        use(name);
        herald.signal("SIGHUP");
        await eventually(
          async () => ((await nameServed(herald, ca).catch(() => "")) === name ? true : undefined),
          "the new certificate",
        );
        using newer = await openSocket(herald.url, { ca, uid: "bob" });
        await newer.request("connect", { token: await org.token("bob") });
        await org.sent("bob", { cid, body: name });
        for (const one of [socket, newer]) expect((await one.next()).message?.body).toBe(name);
        let heard = "";
        while (!heard.includes(`"body":"${name}"`)) heard += (await reader?.read())?.value ?? "";
        expect(socket.events.length).toBe(index + 1);
        await newer.expectSilence();
      }
      await socket.expectSilence();
      await herald.stop();
      expect((await socket.closed).code).toBe(1012);
    });

    test("a changed certificate is also found without a signal; an invalid one changes nothing", async () => {
      const { env, use, files } = settingsIn(authority, "found");
      await using herald = await startHerald({ env, ca });
      const good = readFileSync(files.cert);
      writeFileSync(files.cert, "half a certificate");
      herald.signal("SIGHUP");
      await eventually(
        () => (herald.logs().includes("cannot use the new certificate") ? true : undefined),
        "the complaint in the log",
      );
      herald.signal("SIGHUP");
      expect(await nameServed(herald, ca)).toBe("found-1");
      writeFileSync(files.cert, good);
      use("found-2");
      await eventually(
        async () => ((await nameServed(herald, ca).catch(() => "")) === "found-2" ? true : undefined),
        "the new certificate",
        60_000,
      );
      expect(herald.logs().split("cannot use the new certificate")).toHaveLength(2);
      await herald.stop();
    });

    test("herald send and herald listen work with a private authority, named by NODE_EXTRA_CA_CERTS", async () => {
      const { env } = settingsIn(authority, "cli");
      await using herald = await startHerald({ env, ca });
      const org = await createOrganization(herald);
      const cid = await org.conversation(["alice", "bob"]);
      const client = { HERALD_ADMIN_API_KEY: TEST_KEY, HERALD_PORT: new URL(herald.url).port, ...env };
      const trusting = { ...client, NODE_EXTRA_CA_CERTS: caFile };
      const listening = runHerald(["listen", "--org", org.id, "--user", "alice", "--count", "1"], trusting);
      await eventually(async () => {
        const { body } = await herald.admin<{ count: number }>("GET", `${org.path("online")}?count=true`);
        return body.count > 0 ? true : undefined;
      }, "alice to be online");
      const sent = await runHerald(
        ["send", "message", "--org", org.id, "--from", "bob", "--to", cid, "over TLS"],
        trusting,
      );
      expect(sent).toMatchObject({ code: 0 });
      expect((await listening).stdout).toContain("over TLS");
      const distrusting = await runHerald(
        ["send", "message", "--org", org.id, "--from", "bob", "--to", cid, "x"],
        client,
      );
      expect(distrusting.code).not.toBe(0);
      await herald.stop();
    });

    test("unusable files prevent the start with one line that says why", async () => {
      const one = settingsIn(authority, "one");
      const other = settingsIn(authority, "other");
      const unreadable = settingsIn(authority, "unreadable");
      chmodSync(unreadable.files.key, 0o000);
      const junk = join(authority.folder, "junk");
      writeFileSync(junk, "junk");
      const chain = join(authority.folder, "chain");
      writeFileSync(
        chain,
        `${readFileSync(one.files.cert, "utf8")}-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n`,
      );
      const cases: [Record<string, string>, RegExp][] = [
        [{ HERALD_TLS_CERT: one.files.cert }, /HERALD_TLS_CERT and HERALD_TLS_KEY belong together/],
        [{ HERALD_TLS_KEY: one.files.key }, /HERALD_TLS_CERT and HERALD_TLS_KEY belong together/],
        [{ ...one.env, HERALD_TLS_CERT: "/nowhere.crt" }, /HERALD_TLS_CERT \/nowhere\.crt cannot be read/],
        [{ ...one.env, HERALD_TLS_KEY: "/nowhere.key" }, /HERALD_TLS_KEY \/nowhere\.key cannot be read/],
        [{ ...one.env, HERALD_TLS_CERT: junk }, /HERALD_TLS_CERT \S+ contains no certificate/],
        [{ ...one.env, HERALD_TLS_CERT: chain }, /HERALD_TLS_CERT \S+ cannot be served/],
        [{ ...one.env, HERALD_TLS_KEY: junk }, /HERALD_TLS_KEY \S+ contains no private key/],
        [{ ...one.env, HERALD_TLS_KEY: other.files.key }, /HERALD_TLS_KEY \S+ is not the key of the certificate/],
      ];
      // Root can read every file.
      if (process.getuid?.() !== 0) cases.push([unreadable.env, /HERALD_TLS_KEY \S+ cannot be read/]);
      for (const [env, reason] of cases) {
        const { code, stdout, stderr } = await runHerald(["serve"], {
          HERALD_PORT: "0",
          HERALD_DATA_DIR: authority.folder,
          ...env,
        });
        expect(code).not.toBe(0);
        expect((stdout + stderr).trim().split("\n")).toEqual([expect.stringMatching(reason)]);
        expect(stdout + stderr).not.toContain("PRIVATE KEY");
      }
    });

    test("a certificate that is not valid now is refused", () => {
      const files = authority.issue("dated");
      const day = 86_400_000;
      const at = (days: number) => () => readTls(files, { now: () => Date.now() + days * day });
      expect(at(0)().expiresAt).toBeGreaterThan(Date.now());
      expect(at(3)).toThrow("expired on");
      expect(at(-1)).toThrow("is not valid before");
    });
  });
}
