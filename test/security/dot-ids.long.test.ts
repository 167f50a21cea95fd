import { describe, expect, test } from "bun:test";
import { frameRequests } from "../../src/contract/connections/frames.ts";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import { openSocket } from "../harness/clients/socket.ts";
import type { Problem } from "../harness/clients/wire.ts";
import { TEST_TOKEN_SECRET, useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { goodClaims, signToken } from "../harness/servers/tokens.ts";
import { type Ids, idsOfNothing } from "./tenants.ts";
import { type Call, callsOf, frames } from "./walk-calls.ts";

const herald = useHerald({
  env: {
    HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
  },
});

const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
const dots = [".", ".."];
/** Nobody chooses these ids, and they name nothing but what the server made. */
const madeByServer = ["keyId", "deliveryId"];

/** Ids, each a word, so that they are recognized in a call. */
const words: Ids = { ...idsOfNothing(), org: "" };
const chosen = Object.keys(words).filter((name) => !madeByServer.includes(name));

const call = ([method, target, body]: Call) =>
  typeof body === "string"
    ? herald().http<Problem>(method, target, {
        body,
        headers: { "Admin-Api-Key": herald().key, "Content-Type": "application/x-ndjson" },
      })
    : herald().admin<Problem>(method, target, body);

/** What a call says beside its path, without cursors, which the server makes, and what is no whole id. */
const saidIn = ([, target, body]: Call) => [target.replace(/[^?]*/, "").replace(/(cursor|prefix)=.*/, ""), body];

describe("the ids . and .., which no URL can name", () => {
  test.each(operations.filter(({ scope }) => scope !== undefined))(
    "are refused wherever $operationId takes an id",
    async (operation) => {
      const org = await createOrganization(herald());
      const ids = { ...words, org: org.id };
      const calls = callsOf(operation, ids);
      for (const name of chosen)
        for (const dot of dots)
          for (const [index, one] of callsOf(operation, { ...ids, [name]: dot }).entries()) {
            const said = calls[index];
            if (said === undefined || JSON.stringify(saidIn(one)) === JSON.stringify(saidIn(said))) continue;
            const [method, , body] = one;
            const { status, text } = await call([
              method,
              name === "org" ? one[1].replace(/^[^?]*/, said[1].replace(/\?.*/, "")) : one[1],
              body,
            ]);
            const isRefused = typeof body === "string" ? text.includes('"invalid_request"') : status === 422;
            expect({ name, call: one, text, isRefused }).toMatchObject({ isRefused: true });
          }
    },
  );

  test("are refused by the schemas of paths", () => {
    for (const { operationId, params } of operations) {
      const names = Object.keys("shape" in params ? Object(params.shape) : {});
      const good = Object.fromEntries(names.map((name) => [name, Bun.randomUUIDv7()]));
      expect({ operationId, isGood: params.safeParse(good).success }).toEqual({ operationId, isGood: true });
      for (const name of names)
        for (const dot of dots)
          expect({ operationId, name, isGood: params.safeParse({ ...good, [name]: dot }).success }).toEqual({
            operationId,
            name,
            isGood: false,
          });
    }
  });

  test("are refused in the requests of sockets", async () => {
    const org = await createOrganization(herald());
    using socket = await org.socket("alice");
    expect(Object.keys(frames)).toEqual(Object.keys(frameRequests));
    for (const [operation, payloads] of Object.entries(frames))
      for (const payload of payloads)
        for (const name of chosen)
          for (const dot of dots) {
            const request = payload({ ...words, [name]: dot });
            if (JSON.stringify(request) === JSON.stringify(payload(words)) || "cursor" in request) continue;
            const { error } = await socket.request(operation, request);
            expect({ operation, request, code: error?.code }).toMatchObject({ code: "invalid_request" });
          }
  });

  test("are refused in tokens, and create nobody", async () => {
    const org = await createOrganization(herald());
    for (const [organization, uid] of [
      [org.id, "."],
      [org.id, ".."],
      [".", "alice"],
    ] as const) {
      using socket = await openSocket(herald().url);
      const token = await signToken(goodClaims(organization, uid));
      expect((await socket.request("connect", { token })).error?.code).toBe("unauthorized");
      expect((await socket.closed).code).toBe(4401);
    }
    expect((await herald().admin<{ items: unknown[] }>("GET", org.path("users"))).body.items).toEqual([]);
  });

  test("say what is wrong, and are legal as part of a longer id", async () => {
    const org = await createOrganization(herald());
    const refused = await herald().admin<Problem>("PUT", org.path("conversations", "c"), { participants: ["a", ".."] });
    expect(refused.body.errors).toEqual([
      {
        pointer: "/participants/1",
        detail: 'must be 1 to 128 characters, without control characters, and neither "." nor ".."',
      },
    ]);
    for (const uid of ["...", ".a", "a.", "..a", "a..b"])
      expect((await herald().admin("PUT", org.path("users", uid), {})).status).toBe(201);
  });
});
