import { expect, test } from "bun:test";
import { createStore, type Database } from "../store.ts";
import { messageOf } from "./log-suite.ts";

const kibibyte = 1024;

/** Tests `Database.sizes` of an engine. */
export function describeSizes(engine: string, open: () => Promise<Database>): void {
  test(`the size of ${engine} grows with what is stored`, async () => {
    const database = await open();
    const { sends, conversations, organizations } = createStore({ ...database, announce: () => undefined });
    await organizations.put("o1", undefined, 1);
    await conversations.put("o1", "c1", { participants: ["u1"] }, 1);
    const total = async () => {
      const { bytes, logBytes = 0 } = await database.sizes();
      return bytes + logBytes;
    };
    const before = await total();
    expect(before).toBeGreaterThan(100 * kibibyte);
    // Hexadecimal digits of random bytes, which PostgreSQL cannot compress to nothing.
    const body = Buffer.from(crypto.getRandomValues(new Uint8Array(8 * kibibyte))).toString("hex");
    const messages = Array.from({ length: 500 }, () => messageOf("o1", { payload: JSON.stringify({ body }) }));
    await Promise.all(messages.map((message) => sends.append(message)));
    expect((await total()) - before).toBeGreaterThan(500 * 8 * kibibyte);
    await database.close();
  });
}
