import { expect, test } from "bun:test";
import { unlisted } from "../keys/permissions.ts";
import { fingerprintOf, toMessageSend, toSystemSend } from "./messages.ts";

const caller = unlisted("k");
const envelope = { organizationId: "o", senderId: "alice" };
const message = { id: "m", cid: "c", body: "hi", x: { a: 1 }, attachments: [] };
const messageSystem = { id: "s", uids: ["bob"], x: { a: 1 } };

// Sends that are stored already must still be recognized.
test("the payload and the fingerprint of a send that is not silent are what they were before sends could be", async () => {
  const sent = toMessageSend(caller, { ...envelope, message }, 1_000);
  expect(sent.payload).toBe(
    `{"message":{"_id":"${sent.id}","t":1,"from":"alice","body":"hi","cid":"c","x":{"a":1},"attachments":[],"created_at":"1970-01-01T00:00:01.000Z"}}`,
  );
  expect(sent.fingerprint).toBe(fingerprintOf(["hi", "c", { a: 1 }, []]));
  const system = await toSystemSend(caller, { ...envelope, messageSystem }, 1_000);
  expect(system.payload).toBe('{"system_message":{"_id":"s","t":1,"from":"alice","x":{"a":1}}}');
  expect(system.fingerprint).toBe(fingerprintOf([{ a: 1 }, ["bob"]]));
  expect([sent.silent, system.silent]).toEqual([undefined, undefined]);
});

test("a silent send has another fingerprint, and a payload that ends with it", async () => {
  const silent = true;
  const sent = toMessageSend(caller, { ...envelope, message: { ...message, silent } }, 1_000);
  const system = await toSystemSend(caller, { ...envelope, messageSystem: { ...messageSystem, silent } }, 1_000);
  for (const send of [sent, system])
    expect(send).toMatchObject({ silent, payload: expect.stringMatching(/,"silent":true\}\}$/) });
  expect(sent.fingerprint).not.toBe(fingerprintOf(["hi", "c", { a: 1 }, []]));
  expect(system.fingerprint).not.toBe(fingerprintOf([{ a: 1 }, ["bob"]]));
});

test("a send that names other messages has another fingerprint, and tells the log which", () => {
  const named = { ...message, replied_message_id: "a", forwarded_message_id: "b" };
  const sent = toMessageSend(caller, { ...envelope, message: named }, 1_000);
  expect(sent.referred).toEqual(["a", "b"]);
  expect(sent.payload).toEndWith(',"replied_message_id":"a","forwarded_message_id":"b"}}');
  const alone = toMessageSend(caller, { ...envelope, message }, 1_000);
  expect([alone.referred, alone.fingerprint === sent.fingerprint]).toEqual([undefined, false]);
});
