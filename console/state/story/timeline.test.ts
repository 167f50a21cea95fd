import { expect, test } from "bun:test";
import type { FeedEvent } from "../../../sdk/admin/feed.ts";
import type { AuditEntry } from "../../../sdk/types.ts";
import type { Step } from "./step.ts";
import { type Known, toTimeline } from "./timeline.ts";

const id = "m-1";
const second = (count: number, ms = 0) => new Date(Date.UTC(2026, 11, 1, 9, 0, count, ms)).toISOString();
const t = 0;

function known(more: Partial<Omit<Known, "report">> & { report?: Partial<Known["report"]> } = {}): Known {
  const { report, ...others } = more;
  return {
    id,
    recipients: undefined,
    log: [],
    audit: [],
    posted: [],
    ...others,
    report: {
      sentAt: second(0),
      from: "alice",
      keyId: "k-1",
      editedAt: undefined,
      recalledAt: undefined,
      expiredAt: undefined,
      deliveredUsers: 0,
      firstDeliveredAt: null,
      lastDeliveredAt: null,
      ...report,
    },
  };
}

function audited(
  operation: string,
  at: string,
  target: AuditEntry["target"],
  more: Partial<AuditEntry> = {},
): AuditEntry {
  const entry = {
    id: at,
    created_at: at,
    operation,
    organization: "o",
    key_id: "k-2",
    person: null,
    address: null,
    target,
  };
  return { ...entry, result: "done", status: 200, code: null, request_id: "r", omitted: 0, ...more };
}

const logged = (offset: number, at: string, event: FeedEvent) => ({ cursor: `${offset}-e`, at, event });
const edit = (at: string): FeedEvent & object => ({
  message_edit: { id, cid: "c", from: "alice", body: at, x: {}, t },
});
const recall = (ids: string[]): FeedEvent => ({ message_delete: { ids, cid: "c", from: "bob", type: "all", t } });
const kindsOf = (steps: readonly Step[]) => steps.map(({ kind }) => kind);

test("a send says its key, and where the log has it its offset", () => {
  const message = { _id: id, t, from: "alice", body: "", cid: "c", x: {}, attachments: [], created_at: second(0) };
  expect(toTimeline(known({ log: [logged(12, second(0), { message })] }))).toEqual([
    {
      kind: "sent",
      at: second(0),
      count: 1,
      uids: ["alice"],
      keys: ["k-1"],
      details: ["stored in the log at offset 12"],
    },
  ]);
});

test("what happened at the same time is in the order of what must come first", () => {
  const recipients = [
    { uid: "bob", state: "acknowledged", delivered_at: second(0), acknowledged_at: second(0) } as const,
  ];
  expect(kindsOf(toTimeline(known({ recipients })))).toEqual(["sent", "delivered", "acknowledged"]);
});

test("an edit that the log, the report and the audit log tell is there once, with its key", () => {
  const log = [logged(3, second(5), edit("first")), logged(4, second(20), edit("second"))];
  const audit = [
    audited("editMessage", second(20, 9), { message: id, sender: "alice" }, { key_id: "k-3" }),
    audited("editMessage", second(5, 9), { message: id, sender: "alice" }),
  ];
  const steps = toTimeline(known({ report: { editedAt: second(20) }, log, audit }));
  expect(steps.map(({ kind, uids, keys }) => [kind, uids, keys])).toEqual([
    ["sent", ["alice"], ["k-1"]],
    ["edited", ["alice"], ["k-2"]],
    ["edited", ["alice"], ["k-3"]],
  ]);
});

test("without the log, the report tells the last edit and the recall, and the audit log in whose name", () => {
  const report = { editedAt: second(5), recalledAt: second(9) };
  const audit = [audited("recallMessages", second(9), { sender: "bob" })];
  const steps = toTimeline(known({ report, audit }));
  expect(steps.slice(1).map(({ kind, uids, keys }) => [kind, uids, keys])).toEqual([
    ["edited", [], []],
    ["recalled", ["bob"], ["k-2"]],
  ]);
});

test("an expiry, which the log tells as a recall, is no recall", () => {
  const steps = toTimeline(known({ report: { expiredAt: second(30) }, log: [logged(9, second(31), recall([id]))] }));
  expect(kindsOf(steps)).toEqual(["sent", "expired"]);
});

test("changes of other messages, and a refused call as such", () => {
  const audit = [audited("editMessage", second(5), { message: id }, { result: "refused", code: "sender_not_owner" })];
  const steps = toTimeline(known({ log: [logged(3, second(5), recall(["m-2"]))], audit }));
  expect(steps.slice(1).map(({ kind, details, isBad }) => [kind, details, isBad])).toEqual([
    ["audit", ["editMessage: refused, sender_not_owner"], true],
  ]);
});

test("who received it within a minute is one step, but before and after an edit are two", () => {
  const got = (uid: string, at: string) =>
    ({ uid, state: "delivered", delivered_at: at, acknowledged_at: null }) as const;
  const recipients = [
    got("dave", second(50)),
    got("bob", second(1)),
    got("carol", second(2)),
    got("erin", second(300)),
  ];
  const steps = toTimeline(known({ recipients, log: [logged(3, second(10), edit("x"))] }));
  expect(steps.slice(1).map(({ kind, uids, until }) => [kind, uids, until])).toEqual([
    ["delivered", ["bob", "carol"], second(2)],
    ["edited", ["alice"], undefined],
    ["delivered", ["dave"], undefined],
    ["delivered", ["erin"], undefined],
  ]);
});

test("reads of the report with the same key are one step", () => {
  const audit = ["getMessage", "listRecipients", "getMessage"].map((name, place) =>
    audited(name, second(place + 1), { message: id }),
  );
  const [, read] = toTimeline(known({ audit }));
  expect(read).toMatchObject({ kind: "audit", count: 3, keys: ["k-2"], details: ["getMessage", "listRecipients"] });
});

test("recipients who are too many to be listed are first and last", () => {
  const report = { deliveredUsers: 70_000, firstDeliveredAt: second(1), lastDeliveredAt: second(4) };
  const [, delivered] = toTimeline(known({ report }));
  expect(delivered).toMatchObject({ kind: "delivered", at: second(1), until: second(4), count: 70_000, uids: [] });
});

test("a delivery of a webhook is two steps: that it was due, and its last try", () => {
  const last_try = { at: second(12), duration_ms: 7, status: 500, error: "the receiver answered 500", answer: null };
  const common = { id: "d", created_at: second(10), request: { type: "message.unreached" } };
  const delivery = { ...common, state: "waiting", tries: 1, next_try_at: second(17), last_try } as const;
  const [, due, tried] = toTimeline(known({ posted: [{ webhook: "push", delivery }] }));
  expect(due).toMatchObject({ kind: "hook", at: second(10), webhook: "push", details: ["message.unreached"] });
  expect(tried).toMatchObject({ kind: "try", at: second(12), isBad: true, nextAt: second(17) });
  expect(tried?.details).toEqual(["try 1, waiting: the receiver answered 500, in 7 ms"]);
});
