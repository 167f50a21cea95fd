import { expect, test } from "bun:test";
import { eventually } from "../../../test/harness/deadline.ts";
import type { NewSend } from "../../store/ports.ts";
import { nobody } from "../keys/permissions.ts";
import { createDryRuns } from "./dry-runs.ts";

const clock = { now: () => 0 };
const crowd = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);

function unused(): never {
  throw new Error("nothing is changed here");
}

/** Sets up dry runs whose checks end on demand. */
function setUp() {
  const checked: NewSend[] = [];
  const waiting: (() => void)[] = [];
  const { systemMessage } = createDryRuns({
    checks: {
      check(send) {
        checked.push(send);
        return new Promise((resolve) => waiting.push(() => resolve({ verdict: undefined, participants: 0 })));
      },
    },
    changes: { checkEdit: unused, checkRecall: unused },
    systemRecalls: { check: unused },
    hidings: { check: unused },
    reactions: { check: unused },
    use: { requireRoomFor: async () => undefined, requireRoom: unused },
    sent: { strangersAmong: async (_, uids) => uids.slice(0, 1), countUsersAt: async () => 5_000 },
    participants: { list: async () => [] },
    readMarks: { scopeOf: async () => ({ outcome: "found", unread: [] }), participantsAmong: async () => [] },
    presence: { count: async (_, uids = []) => ({ count: uids.length, connections: uids.length }) },
    clock,
    elapsed: clock,
  });
  return {
    checked,
    begin: (organizationId: string, uids: string[]) =>
      systemMessage(nobody, { organizationId, senderId: "alice", messageSystem: { id: "s", uids, x: {} } }),
    /** Resolves once this many sends were checked. */
    reached: (count: number) => eventually(() => checked.length >= count || undefined, "a dry run to begin"),
    /** Ends one check. */
    end: (index: number) => waiting[index]?.(),
  };
}

test("one large dry run is under way per node, and organizations take turns; a short one waits for none", async () => {
  const { checked, begin, reached, end } = setUp();
  const large = ["many", "many", "many", "other"].map((org) => begin(org, crowd(3_000)));
  await reached(1);
  const short = begin("another", crowd(1_000));
  for (const index of [0, 2, 3, 4]) {
    await reached(Math.max(2, index + 1));
    expect(checked).toHaveLength(Math.max(2, index + 1));
    end(index);
  }
  end(1);
  const [first] = await Promise.all([...large, short]);
  expect(checked.map(({ org }) => org)).toEqual(["many", "another", "many", "other", "many"]);
  expect(first?.body).toEqual({ dry_run: { recipients: 3_000, online: 3_000, unknown_users: ["u0"] } });
});

test("the payload and users of a dry run are not sent to the log's thread; users are looked up a thousand at a time", async () => {
  const { checked, begin, reached, end } = setUp();
  const answer = begin("one", ["u2", "u1", "u2"]);
  await reached(1);
  expect(checked.map(({ uids, payload }) => [uids, payload])).toEqual([[undefined, ""]]);
  end(0);
  expect((await answer).body).toEqual({ dry_run: { recipients: 2, online: 2, unknown_users: ["u2"] } });
});
