import { expect, test } from "bun:test";
import { createAdmin, type ExportRecord, eachOf, type ImportRecord } from "../../sdk/admin.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald();
const connect = () => createAdmin({ url: herald().url, key: herald().key });

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const item of items) taken.push(item);
  return taken;
}

const [day, now] = [24 * 3_600_000, Date.now()];
const kept = { senderId: "alice", id: "s", created_at: new Date(now - day).toISOString() };
const kept_until = new Date(now + day).toISOString();
const records: ImportRecord[] = [
  { user: { id: "alice", name: "Alice" } },
  { user: { id: "bob", name: null } },
  { conversation: { id: "c", name: "Cake", participants: ["alice"] } },
  { participant: { cid: "c", uid: "bob" } },
  {
    message: { id: "m", cid: "c", senderId: "alice", body: "hi", x: { a: 1 }, created_at: "2020-01-01T00:00:00.000Z" },
  },
  { system_message: { ...kept, cid: "c", x: { a: 1 }, kept_until, key: "k" } },
  { system_message_read: { uid: "bob", ...kept, seen_at: kept.created_at, read_at: null } },
  { inbox_range: { uid: "alice", cid: "c", after: kept } },
];

test("what is imported record by record is exported so, and an import of that is the same organization", async () => {
  const [from, to] = [await createOrganization(herald()), await createOrganization(herald())];
  const admin = connect();
  expect((await all(admin.importRecords(from.id, records, { dryRun: true }))).at(-1)).toEqual({
    done: true,
    lines: 8,
    failed: 0,
  });
  expect(await all(admin.exportRecords(from.id))).toEqual([]);
  expect((await all(admin.importRecords(from.id, records))).at(-1)).toEqual({ done: true, lines: 8, failed: 0 });
  const exported: ExportRecord[] = await all(admin.exportRecords(from.id));
  expect(exported).toContainEqual({ conversation: { id: "c", name: "Cake", participants: ["alice", "bob"] } });
  for (const record of records.slice(-3)) expect(exported).toContainEqual(record as ExportRecord);
  await all(admin.importRecords(to.id, admin.exportRecords(from.id)));
  expect(await all(admin.exportRecords(to.id))).toEqual(exported);
  const ofBob = await all(admin.exportUserRecords(from.id, "bob"));
  expect(ofBob).toContainEqual({ user: { id: "bob", name: null } });
  expect(JSON.stringify(ofBob)).not.toContain("hi");
});

test("a record that is wrong is reported with its line, and the others are imported", async () => {
  const org = await createOrganization(herald());
  const wrong: ImportRecord[] = [{ user: { id: "u" } }, { participant: { cid: "none", uid: "u" } }];
  const [fault, end] = await all(connect().importRecords(org.id, wrong));
  expect(fault).toMatchObject({ line: 2, problem: { status: 404, code: "conversation_not_found" } });
  expect(end).toEqual({ done: true, lines: 2, failed: 1 });
});

test("any list can be read item by item", async () => {
  const org = await createOrganization(herald());
  const admin = connect();
  await org.conversation(Array.from({ length: 1_003 }, (_, index) => `u${index}`));
  const users = await all(eachOf((page) => admin.listUsers(org.id, page)));
  expect(new Set(users.map(({ id }) => id)).size).toBe(1_003);
});

test("a node says how it is, and what it offers", async () => {
  const admin = connect();
  expect((await admin.getHealth()).status).toBe("ok");
  expect(await admin.getReadiness()).toMatchObject({ status: "ok", checks: { store: "ok" } });
  expect(await admin.getMetrics()).toContain("# TYPE herald_");
  expect(await admin.getOpenApi()).toMatchObject({ openapi: expect.any(String) });
  expect(await admin.getAsyncApi()).toMatchObject({ asyncapi: expect.any(String) });
});
