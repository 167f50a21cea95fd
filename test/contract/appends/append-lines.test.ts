import { describe, expect, test } from "bun:test";
import type { Problem } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

type Line = { success?: true; length?: number; code?: string };

const headers = () => ({ "Admin-Api-Key": herald().key, "Content-Type": "application/x-ndjson" });

async function openStream(...first: string[]) {
  const sending = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const body = new ReadableStream<Uint8Array>({ start: sending.resolve });
  const stream = await sending.promise;
  const write = (...lines: (object | string)[]) => {
    for (const line of lines)
      stream.enqueue(Buffer.from(`${typeof line === "string" ? line : JSON.stringify(line)}\n`));
  };
  write(...first);
  const response = await fetch(`${herald().url}/admin/message/append`, {
    method: "PUT",
    headers: headers(),
    body,
  });
  const reader = response.status !== 200 ? undefined : response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const waiting: Line[] = [];
  return {
    response,
    write,
    end: () => stream.close(),
    leave: () => stream.error(new Error("gone")),
    /** The next answer; `undefined` at the end. */
    async next(): Promise<Line | undefined> {
      for (;;) {
        const line = waiting.shift();
        if (line !== undefined) return line;
        const part = await reader?.read();
        if (part?.value === undefined) return undefined;
        rest += part.value;
        const lines = rest.split("\n");
        rest = lines.pop() ?? "";
        waiting.push(...lines.map((text) => JSON.parse(text)));
      }
    },
  };
}

/** Sends a body piece by piece, without its length. */
async function sendSlowly(...pieces: string[]): Promise<Response> {
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = left.shift();
      if (piece === undefined) return controller.close();
      controller.enqueue(Buffer.from(piece));
      await Bun.sleep(50);
    },
  });
  return await fetch(`${herald().url}/admin/message/append`, { method: "PUT", headers: headers(), body });
}

async function openMessage() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["agent", "bob"]);
  const { server_mid: id } = await org.sent("agent", { cid, open: true });
  const first = (offset: number, text: string) =>
    JSON.stringify({ organizationId: org.id, senderId: "agent", messageAppend: { id, offset, text } });
  return { org, cid, id, first };
}

describe("a message that grows line by line", () => {
  test("is answered line by line, and heard in as few pieces as it is stored in", async () => {
    const { org, cid, first } = await openMessage();
    using bob = await org.socket("bob");
    const stream = await openStream(first(0, "one "));
    expect(await stream.next()).toEqual({ success: true, length: 4 });
    const words = Array.from({ length: 200 }, (_, index) => `word${index} `);
    stream.write(...words.map((text) => ({ text })), "", { done: true });
    let length = 4;
    for (const word of words) {
      length += word.length;
      expect(await stream.next()).toEqual({ success: true, length });
    }
    expect(await stream.next()).toEqual({ success: true, length });
    expect(await stream.next()).toBeUndefined();
    let text = "";
    let isDone = false;
    for (let pieces = 1; !isDone; pieces++) {
      const { message_append: piece } = await bob.next();
      expect(piece?.offset).toBe(text.length);
      text += piece?.text ?? "";
      isDone = piece?.done === true;
      expect(pieces).toBeLessThan(150);
    }
    expect(text).toBe(`one ${words.join("")}`);
    expect(await org.history(cid)).toMatchObject([{ body: text }]);
  });

  test("goes on from its length after a break", async () => {
    const { org, cid, first } = await openMessage();
    const broken = await openStream(first(0, "one "));
    broken.write({ text: "two " });
    expect(await broken.next()).toEqual({ success: true, length: 4 });
    expect(await broken.next()).toEqual({ success: true, length: 8 });
    broken.leave();
    const refused = await openStream(first(4, "two three"));
    expectProblem(
      {
        status: refused.response.status,
        headers: refused.response.headers,
        ...(await textOf(refused.response)),
      } as never,
      409,
      "append_conflict",
    );
    const again = await openStream(first(8, "three"));
    again.write({ done: true });
    expect(await again.next()).toEqual({ success: true, length: 13 });
    expect(await again.next()).toEqual({ success: true, length: 13 });
    expect(await again.next()).toBeUndefined();
    expect(await org.history(cid)).toMatchObject([{ body: "one two three" }]);
  });

  test("ends with the problem of a line that is refused, and stays open", async () => {
    const { org, cid, first } = await openMessage();
    for (const bad of ["{", "{}", '{"text":"\\ud800"}', '{"txt":"x"}']) {
      const [listed] = await org.history(cid);
      const offset = listed?.body.length ?? 0;
      const stream = await openStream(first(offset, "x"));
      stream.write({ text: "y" }, bad, { text: "z" });
      expect(await stream.next()).toEqual({ success: true, length: offset + 1 });
      expect(await stream.next()).toEqual({ success: true, length: offset + 2 });
      expect((await stream.next())?.code).toBeOneOf(["malformed_json", "invalid_request"]);
      stream.end();
      expect(await stream.next()).toBeUndefined();
    }
    expect(await org.history(cid)).toMatchObject([{ body: "xyxyxyxy", open: true }]);
  });

  test("is read on for a moment when a line is refused, as its caller may still be writing", async () => {
    const { first } = await openMessage();
    const stream = await openStream(first(0, "x"));
    stream.write("{");
    await stream.next();
    expect((await stream.next())?.code).toBe("malformed_json");
    const end = stream.next();
    stream.write({ text: "y" }, "}");
    expect(await Promise.race([end, Bun.sleep(100).then(() => "none yet")])).toBe("none yet");
    stream.end();
    expect(await end).toBeUndefined();

    const refused = await sendSlowly("{\n", '{"text":"y"}\n');
    expect(refused.status).toBe(400);
    expect(refused.headers.get("connection")).not.toBe("close");
  });

  test("is refused like a single append in its first line", async () => {
    const { first } = await openMessage();
    const answer = async (line: string) => {
      const response = await sendSlowly(`${line}\n`);
      return { status: response.status, headers: response.headers, ...(await textOf(response)) } as never;
    };
    expectProblem(await answer("{"), 400, "malformed_json");
    expectProblem(await answer('{"text":"x"}'), 422, "invalid_request");
    expectProblem(await answer(first(3, "x")), 409, "append_conflict");
  });
});

async function textOf(response: Response): Promise<{ text: string; body: Problem }> {
  const text = await response.text();
  return { text, body: JSON.parse(text) };
}
