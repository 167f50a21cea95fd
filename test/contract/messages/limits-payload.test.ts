import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { postText, requestText } from "../../harness/clients/payload.ts";
import { rawHttp } from "../../harness/clients/raw-http.ts";
import type { Ask, Problem } from "../../harness/clients/wire.ts";
import { within } from "../../harness/deadline.ts";
import { expectProblem, messageOf } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "the memory of the process that takes an upload is looked at",
  env: { HERALD_LIMIT_PARTICIPANTS: "5" },
});
const file = { name: "a.txt", size: 1, content_type: "text/plain" };

async function room(): Promise<{ org: Organization; cid: string }> {
  const org = await createOrganization(herald());
  return { org, cid: await org.conversation(["alice"]) };
}

/** A valid request of exactly this many bytes, padded with white space. */
function padded(org: Organization, cid: string, bytes: number): string {
  const text = requestText(org, cid);
  return text + " ".repeat(bytes - Buffer.byteLength(text));
}

/** The same bytes in many chunks, without a content length. */
function chunked(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(offset, offset + 50_000));
      offset += 50_000;
      if (offset >= bytes.length) controller.close();
    },
  });
}

describe("limits of a payload, with their defaults", () => {
  test("a body has at most 65,536 characters, however many bytes they take", async () => {
    const { org, cid } = await room();
    using alice = await org.socket("alice");
    for (const character of ["x", "é", "👋"]) {
      expect((await org.send("alice", { cid, body: character.repeat(65_536) })).status).toBe(201);
      expect(messageOf(await alice.next()).body).toBe(character.repeat(65_536));
      expectProblem(
        await org.send<unknown>("alice", { cid, body: character.repeat(65_537) }),
        422,
        "invalid_request",
        "/message/body",
      );
    }
  });

  test("x has at most 32 KiB as JSON, in a message and in a system message", async () => {
    const { org, cid } = await room();
    // {"k":"…"} is eight bytes around the text.
    for (const text of ["x".repeat(32_760), "é".repeat(16_380), "\\".repeat(16_380)]) {
      const atLimit = { k: text };
      expect(Buffer.byteLength(JSON.stringify(atLimit))).toBe(32_768);
      expect((await org.send("alice", { cid, body: "x", x: atLimit })).status).toBe(201);
      expect((await org.sendSystem("alice", { uids: ["alice"], x: atLimit })).status).toBe(201);
      const above = { k: `${text}x` };
      expectProblem(
        await org.send<unknown>("alice", { cid, body: "x", x: above }),
        422,
        "invalid_request",
        "/message/x",
      );
      expectProblem(
        await org.sendSystem<unknown>("alice", { uids: ["alice"], x: above }),
        422,
        "invalid_request",
        "/messageSystem/x",
      );
    }
  });

  test("a message has at most 20 attachments", async () => {
    const { org, cid } = await room();
    using alice = await org.socket("alice");
    expect((await org.send("alice", { cid, attachments: Array(20).fill(file) })).status).toBe(201);
    expect(messageOf(await alice.next()).attachments).toHaveLength(20);
    expectProblem(
      await org.send<unknown>("alice", { cid, attachments: Array(21).fill(file) }),
      422,
      "invalid_request",
      "/message/attachments",
    );
  });

  test("a request has at most 1 MiB, declared or in chunks, and is answered either way", async () => {
    const { org, cid } = await room();
    const limit = 1_048_576;
    expect((await postText<Ask>(herald(), "/admin/message", padded(org, cid, limit))).status).toBe(201);
    expectProblem(
      await postText<Problem>(herald(), "/admin/message", padded(org, cid, limit + 1)),
      413,
      "payload_too_large",
    );
    expect((await postText<Ask>(herald(), "/admin/message", chunked(padded(org, cid, limit)))).status).toBe(201);
    expectProblem(
      await postText<Problem>(herald(), "/admin/message", chunked(padded(org, cid, limit + 1))),
      413,
      "payload_too_large",
    );
    expect(await org.history(cid)).toHaveLength(2);
  });

  test("a request that declares too much is refused before it is sent", async () => {
    const { port } = new URL(herald().url);
    const head = `POST /admin/message HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAdmin-Api-Key: ${herald().key}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{`;
    const answer = await rawHttp(herald().url, [head], "the refusal of an announced 100 GB");
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "payload_too_large", status: 413 });
  });

  test("a request that never ends is refused during its arrival, and not kept", async () => {
    const { hostname, port } = new URL(herald().url);
    const socket = connect(Number(port), hostname);
    const answered = Promise.withResolvers<string>();
    // The client gives up here; the server must have answered long before, and kept almost nothing.
    const endless = 1_000_000_000;
    let written = 0;
    let isOver = false;
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
    const write = () => {
      while (!isOver && written < endless) {
        written += 65_536;
        if (!socket.write(chunk)) break;
      }
    };
    const end = (text: string) => {
      isOver = true;
      answered.resolve(text);
    };
    socket.on("drain", write);
    socket.on("data", (data: Buffer) => end(data.toString("latin1")));
    socket.on("error", () => end("reset"));
    socket.on("close", () => end("closed"));
    socket.write(
      `POST /admin/message HTTP/1.1\r\nHost: x\r\nAdmin-Api-Key: ${herald().key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    write();
    const answer = await within(answered.promise, "the refusal of an endless request");
    socket.destroy();
    // The response may be lost to the reset of a connection whose upload nobody reads any more; the next test reads it.
    expect(answer).toMatch(/^(HTTP\/1\.1 413|reset$|closed$)/);
    expect(written).toBeLessThan(endless);
    const status = await Bun.file(`/proc/${herald().pid}/status`).text();
    expect(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024).toBeLessThan(500);
  });

  test("a request that is too large is answered before its end has arrived", async () => {
    const { hostname, port } = new URL(herald().url);
    const socket = connect(Number(port), hostname);
    const answered = Promise.withResolvers<string>();
    socket.once("data", (data: Buffer) => answered.resolve(data.toString("latin1")));
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
    socket.write(
      `POST /admin/message HTTP/1.1\r\nHost: x\r\nAdmin-Api-Key: ${herald().key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}`,
    );
    expect(await within(answered.promise, "the refusal of a request without an end")).toStartWith("HTTP/1.1 413");
    socket.destroy();
  });

  test("a conversation has at most as many participants as configured, together or one by one", async () => {
    const org = await createOrganization(herald());
    const five = ["a", "b", "c", "d", "e"];
    expect((await herald().admin("PUT", org.path("conversations", "room"), { participants: five })).status).toBe(201);
    expectProblem(
      await herald().admin("PUT", org.path("conversations", "room"), { participants: [...five, "f"] }),
      422,
      "invalid_request",
      "/participants",
    );
    expectProblem(
      await herald().admin("PUT", org.path("conversations", "other"), { participants: [...five, "f"] }),
      422,
      "invalid_request",
      "/participants",
    );
    expect((await herald().admin("GET", org.path("conversations", "other"))).status).toBe(404);
    await org.user("f");
    expectProblem(
      await herald().admin("PUT", org.path("conversations", "room", "participants", "f")),
      422,
      "invalid_request",
    );
    await org.join("room", "e");
    await org.leave("room", "e");
    await org.join("room", "f");
  });
});
