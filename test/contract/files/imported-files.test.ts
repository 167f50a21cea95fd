import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { exportOf, importInto, messageLine } from "../transfer/lines.ts";

const herald = useHerald();
const room = { conversation: { id: "room", participants: ["alice", "bob"] } };

const bearer = async (org: Organization, uid: string) => ({ Authorization: `Bearer ${await org.token(uid)}` });

describe("the files of imported messages", () => {
  test("are those that are there, and others, whose bytes may be uploaded afterwards under the ids that they came with", async () => {
    const org = await createOrganization(herald());
    const files = filesOf(org);
    const { file_id } = await files.uploaded("there.txt", "there");
    const attachments = [
      { name: "there.txt", file_id },
      { name: "plan.pdf", file_id: "old/1", size: 9, content_type: "application/pdf" },
      { name: "unnamed.bin" },
    ];
    const lines = [room, messageLine("m", 1, { attachments })];
    expect((await importInto(org, lines, { query: "?dry_run=true" })).end).toMatchObject({ failed: 0 });
    expectProblem(await files.get("old/1"), 404, "file_not_found");
    for (const _ of [1, 2]) expect((await importInto(org, lines)).end).toMatchObject({ failed: 0 });
    const bob = await bearer(org, "bob");
    expect((await files.download(file_id, bob)).text).toBe("there");
    const announced = { name: "plan.pdf", size: 9, content_type: "application/pdf", sha256: null };
    expect((await files.get("old/1")).body).toMatchObject(announced);
    expectProblem(await files.download("old/1", bob), 404, "file_not_found");
    expect((await files.put("old/1", "the plan", { type: "application/pdf" })).status).toBe(201);
    expect((await files.download("old/1", bob)).text).toBe("the plan");
    const [message] = await org.history("room");
    const unnamed = message?.attachments[2]?.file_id ?? "";
    expect((await files.put(unnamed, "bytes")).status).toBe(201);
    expect((await files.download(unnamed, bob)).text).toBe("bytes");
    await org.recalled("alice", "room", message?._id ?? "");
    for (const id of [file_id, "old/1", unnamed]) expectProblem(await files.download(id, bob), 404, "file_not_found");
  });

  test("keep their ids from an export to an import, and get their bytes there anew", async () => {
    const [org, copy] = [await createOrganization(herald()), await createOrganization(herald())];
    const { file_id } = await filesOf(org).uploaded("a.txt", "bytes");
    const cid = await org.conversation(["alice", "bob"], "room");
    await org.sent("alice", { cid, attachments: [{ name: "a.txt", file_id }] });
    const lines = await exportOf(org);
    expect(lines.at(-1)).toMatchObject({ message: { attachments: [{ name: "a.txt", file_id }] } });
    expect((await importInto(copy, lines)).end).toMatchObject({ failed: 0 });
    const bob = await bearer(copy, "bob");
    expectProblem(await filesOf(copy).download(file_id, bob), 404, "file_not_found"); // bytes of another organization
    const { text } = await filesOf(org).downloadOf(org, file_id);
    expect((await filesOf(copy).put(file_id, text)).status).toBe(201);
    expect((await filesOf(copy).download(file_id, bob)).text).toBe("bytes");
  });

  test("never stand in for those of another organization, whose ids an import names", async () => {
    const [org, thief] = [await createOrganization(herald()), await createOrganization(herald())];
    const { file_id } = await filesOf(org).uploaded("contract.pdf", "the real one");
    const cid = await org.conversation(["alice"]);
    await org.sent("alice", {
      cid,
      attachments: [{ name: "later.pdf", size: 9, content_type: "application/pdf" }],
    });
    const laterId = (await org.history(cid))[0]?.attachments[0]?.file_id ?? "";
    for (const id of [file_id, laterId]) {
      const lines = [room, messageLine(`m ${id}`, 1, { attachments: [{ name: "x", file_id: id }] })];
      expect((await importInto(thief, lines)).end).toMatchObject({ failed: 0 });
      expect((await filesOf(thief).put(id, "forged")).status).toBe(201);
      expectProblem(await filesOf(org).download(id), 422, "invalid_request", "/organization");
      expect((await filesOf(org).downloadOf(thief, id)).text).toBe("forged");
    }
    expect((await filesOf(org).downloadOf(org, file_id)).text).toBe("the real one");
    expectProblem(await filesOf(org).downloadOf(org, laterId), 404, "file_not_found");
    const bound = async ({ id }: Organization) => ({
      "Admin-Api-Key": (await createKey(herald(), { organization: id })).key,
    });
    expect((await filesOf(org).download(file_id, await bound(org))).text).toBe("the real one");
    expectProblem(await filesOf(org).downloadOf(org, file_id, await bound(thief)), 403, "organization_forbidden");
  });
});
