import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import { createOperations } from "../../../src/contract/operations/all.ts";
import type { Operation } from "../../../src/contract/operations/operation.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();
const operations: Operation[] = Object.values<Operation>(createOperations(defaultPayloadLimits));
const takingBodies = operations.filter(
  ({ body, lines, takesBytes }) => body !== undefined || lines !== undefined || takesBytes === true,
);
const typeOf = ({ lines, takesBytes }: Operation) =>
  takesBytes ? "text/plain" : lines === undefined ? "application/json" : "application/x-ndjson";

test.each(takingBodies.map((operation) => [operation.operationId, operation] as const))(
  "%s refuses a body with a content coding with 415, and says what to send",
  async (_, operation) => {
    const org = await createOrganization(herald());
    const path = operation.path.replace("{org}", org.id).replaceAll(/\{\w+\}/g, "x");
    for (const coding of ["gzip", "BR", "identity, deflate", "x-unknown"]) {
      const answer = await herald().http(operation.method.toUpperCase(), path, {
        headers: { "Admin-Api-Key": herald().key, "Content-Type": typeOf(operation), "Content-Encoding": coding },
        body: gzipSync("{}"),
      });
      expectProblem(answer, 415, "unsupported_media_type");
      expect(answer.headers.get("accept-encoding")).toBe("identity");
      expect(answer.body.detail).toContain("Content-Encoding");
    }
  },
);

test("`Content-Encoding: identity` changes nothing", async () => {
  for (const coding of ["identity", "Identity, identity", ""]) {
    const answer = await herald().admin("PUT", "/admin/organizations/plain", {}, { "Content-Encoding": coding });
    expect([200, 201]).toContain(answer.status);
  }
});

test("a body with a content coding is refused only after its key", async () => {
  const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
  const answer = await herald().http("POST", "/admin/message", { headers, body: gzipSync("{}") });
  expectProblem(answer, 401, "unauthorized");
});
