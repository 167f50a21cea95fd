import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { appendPayload, midOfPiece } from "../../contract/messages/append.ts";
import { createId } from "../../lib/text/ids.ts";
import { migrateStore } from "../migrate.ts";
import type { Driver } from "../sql/driver.ts";
import { openSqlite } from "../sqlite/sqlite.ts";
import { messageOf } from "../testing/log-suite.ts";
import { createTestStore } from "../testing/test-store.ts";
import { createMissedEvents } from "./history.ts";
import { findPieces } from "./pieces.ts";

const folder = mkdtempSync(join(tmpdir(), "herald-pieces-"));
let driver: Driver | undefined;

beforeAll(async () => {
  driver = openSqlite(join(folder, "herald.db"));
  await migrateStore(driver);
});
afterAll(async () => {
  await driver?.close();
  rmSync(folder, { recursive: true });
});

test("a piece that is stored while a missed message is read is no part of what the message said before", async () => {
  if (driver === undefined) throw new Error("the database is there while tests run");
  const { allOf, dialect } = driver;
  const { organizations, conversations, sends } = createTestStore(driver);
  await organizations.put("o1", undefined, 1);
  await conversations.put("o1", "c1", { participants: ["u1", "u2"] }, 1);
  const id = createId();
  const message = { _id: id, from: "u1", body: "", cid: "c1", x: {}, attachments: [], open: true };
  await sends.append(messageOf("o1", { id, isOpen: true, payload: JSON.stringify({ message }) }));

  async function append(offset: number, text: string): Promise<number> {
    const told = { id, cid: "c1", from: "u1", offset, text, done: false, t: 1 };
    const piece = { of: id, offset, text, isDone: false };
    const send = messageOf("o1", { kind: "append", mid: midOfPiece(id, offset), payload: appendPayload(told), piece });
    const outcome = await sends.append(send);
    if (outcome.outcome !== "stored") throw new Error(`the piece was ${outcome.outcome}`);
    return outcome.offset;
  }

  const head = await append(0, "before");
  const reader: Driver = {
    ...driver,
    async allOf(org, text, ...values) {
      if (text === findPieces(dialect)) await append("before".length, ", after");
      return await allOf(org, text, ...values);
    },
  };
  const [missed] = await createMissedEvents({ reader }).readMissed("o1", "u2", 1, head, 9, 9_999, head);
  expect(JSON.parse(missed?.payload ?? "").message).toMatchObject({ body: "before", open: true });
});
