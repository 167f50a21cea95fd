import { describe, expect, test } from "bun:test";
import type { Noun } from "../../harness/clients/wire.ts";
import { uniqueId } from "../../harness/random.ts";
import { expectProblem, systemMessageOf } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_REQUESTS_PER_SECOND: "0", HERALD_LIMIT_REQUESTS_BURST: "0" } });

/** All are legal identifiers, and each resembles another or somebody's syntax. */
const awkward = [
  "*",
  ">",
  "#",
  "/",
  "//",
  "...",
  "../..",
  "a.b",
  "a.*",
  "a.>",
  "a b",
  " ",
  " a",
  "a ",
  "%2F",
  "%",
  "%00",
  "?a=b",
  "a&b",
  "a;b",
  "a,b",
  "a:b",
  "a+b",
  "'; DROP TABLE user; --",
  '"',
  "\\",
  "\\u0000",
  "$1",
  "{}",
  "null",
  "0",
  "00",
  "__proto__",
  "constructor",
  "toString",
  "💬",
  "👩‍👩‍👧‍👦",
  "\u00e9",
  "e\u0301",
  "ﬁ",
  "fi",
  "İ",
  "ß",
  "SS",
  "ﷺ",
  "\u200b",
  "\ufeff",
  "\u2028",
  "\ufffd",
  "\ufffe",
];

const controls = [
  ...Array.from({ length: 32 }, (_, code) => code),
  ...Array.from({ length: 33 }, (_, index) => 0x7f + index),
].map((code) => String.fromCharCode(code));

describe("identifiers of callers", () => {
  test("have 1 to 128 characters, in bodies", async () => {
    const org = await createOrganization(herald());
    for (const id of ["x", "x".repeat(128), "👋".repeat(128)]) {
      const cid = await org.conversation([id], id);
      const ask = await org.sent(id, { id, cid, body: "x" });
      expect(ask.mid).toBe(id);
      expect((await org.sentSystem(id, { id, uids: [id] })).mid).toBe(id);
    }
    for (const id of ["", "x".repeat(129), "👋".repeat(129), "x".repeat(100_000)]) {
      const answers: [Promise<Awaited<ReturnType<typeof org.send<unknown>>>>, string][] = [
        [org.send<unknown>("x", { id, cid: "x", body: "x" }), "/message/id"],
        [org.send<unknown>("x", { cid: id, body: "x" }), "/message/cid"],
        [org.send<unknown>(id, { cid: "x", body: "x" }), "/senderId"],
        [org.sendSystem<unknown>("x", { id, uids: ["x"] }), "/messageSystem/id"],
        [org.sendSystem<unknown>("x", { uids: ["x", id] }), "/messageSystem/uids/1"],
        [
          herald().admin("POST", "/admin/message", {
            organizationId: id,
            senderId: "x",
            message: { cid: "x", body: "x" },
          }),
          "/organizationId",
        ],
      ];
      for (const [answer, pointer] of answers) expectProblem(await answer, 422, "invalid_request", pointer);
      expectProblem(
        await herald().admin("PUT", org.path("conversations", "y"), { participants: ["x", id] }),
        422,
        "invalid_request",
        "/participants/1",
      );
    }
  });

  test("have 1 to 128 characters, in paths", async () => {
    const org = await createOrganization(herald());
    for (const id of ["x".repeat(128), "👋".repeat(128)]) {
      for (const noun of ["users", "conversations"]) {
        expect((await herald().admin("PUT", org.path(noun, id), {})).status).toBe(201);
        expect((await herald().admin<Noun>("GET", org.path(noun, id))).body.id).toBe(id);
      }
    }
    for (const id of ["x".repeat(129), "👋".repeat(129)]) {
      for (const noun of ["users", "conversations"])
        expectProblem(await herald().admin("PUT", org.path(noun, id), {}), 422, "invalid_request");
      expectProblem(
        await herald().admin("PUT", `/admin/organizations/${encodeURIComponent(id)}`, {}),
        422,
        "invalid_request",
      );
    }
  });

  test("contain no control characters (U+0000 to U+001F, U+007F to U+009F), in bodies and in paths", async () => {
    const org = await createOrganization(herald());
    await org.user("x");
    for (const control of controls) {
      for (const id of [control, `a${control}b`]) {
        expectProblem(
          await org.sendSystem<unknown>("x", { uids: ["x", id] }),
          422,
          "invalid_request",
          "/messageSystem/uids/1",
        );
        expectProblem(await herald().admin("PUT", org.path("users", id), {}), 422, "invalid_request");
      }
    }
    const id = "a\u0085b";
    expectProblem(await org.send<unknown>("x", { id, cid: "x", body: "x" }), 422, "invalid_request", "/message/id");
    expectProblem(await org.send<unknown>("x", { cid: id, body: "x" }), 422, "invalid_request", "/message/cid");
    expectProblem(await org.sendSystem<unknown>("x", { id, uids: ["x"] }), 422, "invalid_request", "/messageSystem/id");
    expectProblem(await org.sendSystem<unknown>(id, { uids: ["x"] }), 422, "invalid_request", "/senderId");
    expectProblem(
      await herald().admin("PUT", `/admin/organizations/${encodeURIComponent(id)}`, {}),
      422,
      "invalid_request",
    );
    expect(await readList<Noun>(herald(), org.path("users"))).toHaveLength(1);
  });

  test("may be anything else, as users: each is returned unchanged, and its messages reach it alone", async () => {
    const org = await createOrganization(herald());
    for (const uid of awkward) {
      expect((await herald().admin("PUT", org.path("users", uid), {})).status).toBe(201);
      expect((await herald().admin<Noun>("GET", org.path("users", uid))).body.id).toBe(uid);
    }
    expect((await readList<Noun>(herald(), org.path("users"), 7)).map((user) => user.id).sort()).toEqual(
      [...awkward].sort(),
    );
    const sockets = await Promise.all(awkward.map((uid) => org.socket(uid)));
    for (const uid of awkward) await org.sentSystem(uid, { id: uid, uids: [uid] });
    for (const [index, socket] of sockets.entries()) {
      const message = systemMessageOf(await socket.next());
      expect([message._id, message.from]).toEqual([awkward[index] ?? "", awkward[index] ?? ""]);
    }
    await org.expectNothingElse(...sockets);
    for (const socket of sockets) socket.terminate();
  });

  test("may be anything else, as conversations: each delivers only to its own participants", async () => {
    const org = await createOrganization(herald());
    for (const cid of awkward) await org.conversation(["alice", `only ${cid}`], cid);
    const sockets = await Promise.all(awkward.map((cid) => org.socket(`only ${cid}`)));
    const asks = await Promise.all(awkward.map((cid) => org.sent("alice", { id: cid, cid, body: cid })));
    for (const [index, socket] of sockets.entries()) {
      const { message } = await socket.next();
      expect([message?.cid, message?.body, message?._id]).toEqual([
        awkward[index],
        awkward[index],
        asks[index]?.server_mid,
      ]);
    }
    await org.expectNothingElse(...sockets);
    for (const cid of awkward) expect((await org.history(cid)).map((message) => message.body)).toEqual([cid]);
    for (const socket of sockets) socket.terminate();
  });

  test("may be anything else, as organizations: all stay separate", async () => {
    const mark = uniqueId("");
    const orgs = await Promise.all(awkward.map((id) => createOrganization(herald(), id + mark)));
    const listeners = await Promise.all(orgs.map(async (org) => ({ org, socket: await org.socket("bob") })));
    for (const org of orgs) await org.conversation(["alice", "bob"], "room");
    for (const org of orgs) await org.sent("alice", { id: "m-1", cid: "room", body: org.id });
    for (const { org, socket } of listeners) expect((await socket.next()).message?.body).toBe(org.id);
    for (const { org, socket } of listeners) await org.expectNothingElse(socket);
    for (const org of orgs) expect((await herald().admin("DELETE", org.path())).status).toBe(204);
    for (const { socket } of listeners) socket.terminate();
  });

  test("are compared byte for byte: letter case, spaces and Unicode forms make a difference", async () => {
    const org = await createOrganization(herald());
    const lookalikes = ["Jos\u00e9", "Jose\u0301", "jos\u00e9", "Jos\u00e9 ", "Jos\u00e9\u200b", "Ｊos\u00e9"];
    for (const uid of lookalikes)
      expect((await herald().admin("PUT", org.path("users", uid), { name: uid })).status).toBe(201);
    const cid = await org.conversation(["Jos\u00e9"]);
    for (const uid of lookalikes.slice(1))
      expectProblem(await org.send<unknown>(uid, { cid, body: "x" }), 403, "sender_not_participant");
    const asks = await Promise.all(
      ["m-\u00e9", "m-e\u0301", "M-\u00e9"].map((id) => org.sent("Jos\u00e9", { id, cid, body: "x" })),
    );
    expect(new Set(asks.map((ask) => ask.server_mid)).size).toBe(3);
    await herald().admin("DELETE", org.path("users", "Jose\u0301"));
    expect((await herald().admin<Noun>("GET", org.path("users", "Jos\u00e9"))).body.name).toBe("Jos\u00e9");
  });

  test("in a path that is not valid UTF-8 are refused, never a server error", async () => {
    const org = await createOrganization(herald());
    for (const path of ["%FF", "%E0%A4%A", "%", "%ED%A0%80", "%C0%AF"]) {
      for (const method of ["GET", "PUT"]) {
        const answer = await herald().http(method, `${org.path("users")}/${path}`, {
          headers: { "Admin-Api-Key": herald().key, "Content-Type": "application/json" },
          ...(method === "PUT" ? { body: "{}" } : {}),
        });
        expect(answer.status).toBe(400);
      }
    }
    expect(await readList<Noun>(herald(), org.path("users"))).toEqual([]);
  });
});
