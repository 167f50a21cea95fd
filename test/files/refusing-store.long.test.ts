import { describe, expect, test } from "bun:test";
import { s3Settings } from "../harness/engines/s3.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { filesOf } from "../harness/servers/files.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { patternStream } from "./pattern.ts";

/** A store that refuses everything, as S3 does: with a status, and a code in XML. */
function refusing(status: number, code: string) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      await request.arrayBuffer();
      const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
      return new Response(text, { status, headers: { "Content-Type": "application/xml" } });
    },
  });
  return { endpoint: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
}

describe("a bucket that refuses what it is asked", () => {
  test.each([
    [507, "XMinioStorageFull", 507, "storage_full"],
    [503, "SlowDown", 503, "unavailable"],
    [500, "InternalError", 503, "unavailable"],
    [403, "AccessDenied", 500, "internal"],
  ])("with %d %s makes uploads, short or in parts, %d %s, and is in the log", async (given, reason, status, code) => {
    await using store = refusing(given, reason);
    await using node = await startHerald({ env: s3Settings(store.endpoint) });
    const files = filesOf(await createOrganization(node));
    for (const body of ["short", patternStream(10_000_000)]) expectProblem(await files.upload("a", body), status, code);
    const told = node.logLines().filter(({ dependency }) => dependency === "files");
    expect(told.map(({ level }) => level)).toEqual([40]); // the second failure is of the same outage
    expect((await node.http("GET", "/readyz")).status).toBe(200);
  });
});
