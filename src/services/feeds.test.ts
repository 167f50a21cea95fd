import { expect, test } from "bun:test";
import type { LogEvent } from "../contract/log/log-event.ts";
import { cursorOf } from "../contract/log/log-place.ts";
import { createId } from "../lib/text/ids.ts";
import { createFeedStarts } from "./feeds.ts";

const dayMs = 24 * 3600 * 1000;
const now = Date.UTC(2026, 10, 28);

/** Feed starts over a log that keeps events for 30 days: each event is an offset and its age in days. */
function startsOver(kept: [offset: number, days: number][], { createdDaysAgo = 100, headOffset = 0 } = {}) {
  const events = kept.map(
    ([offset, days]): LogEvent => ({
      org: "o",
      offset,
      kind: "message",
      id: createId(now - days * dayMs),
      cid: "c",
      payload: "{}",
      uids: undefined,
    }),
  );
  const head = events.at(-1) ?? { offset: headOffset, id: createId(now - 50 * dayMs) };
  const starts = createFeedStarts({
    standing: { snapshot: async () => undefined },
    log: {
      heads: async () => new Map([["o", head]]),
      readFrom: async (_, offset, limit) => ({
        head,
        anchor: events.find((event) => event.offset === offset)?.id,
        events: events.filter((event) => event.offset > offset).slice(0, limit),
      }),
    },
    organizations: {
      get: async (id) => (id === "o" ? { id, name: null, createdAt: now - createdDaysAgo * dayMs } : undefined),
    },
    clock: { now: () => now },
    keepDays: 30,
  });
  const resume = (offset: number, days: number) => {
    const found = events.find((event) => event.offset === offset);
    return starts.resume("o", cursorOf(found ?? { offset, id: offset === 0 ? "" : createId(now - days * dayMs) }));
  };
  return { starts, resume };
}

const tooOld = expect.objectContaining({ code: "cursor_too_old", status: 410 });

test("a feed resumes after an event that is kept, and after one that was removed while all after it are kept", async () => {
  const { resume } = startsOver([
    [8, 2],
    [9, 1],
  ]);
  expect(await resume(8, 2)).toMatchObject({ offset: 8 });
  expect(await resume(7, 40)).toMatchObject({ offset: 7 });
});

test("a feed resumes after a read of yesterday, which is not kept", async () => {
  const { resume } = startsOver([
    [5, 3],
    [9, 1],
  ]);
  expect(await resume(7, 2)).toMatchObject({ offset: 7 });
});

test("a feed does not resume where events after the cursor may have been removed", async () => {
  const { resume } = startsOver([[9, 1]]);
  await expect(resume(7, 40)).rejects.toEqual(tooOld);
  await expect(resume(0, 0)).rejects.toEqual(tooOld);
});

test("a feed resumes at the head, however old that is, and from the beginning of a young organization", async () => {
  expect(await startsOver([], { headOffset: 7 }).resume(7, 50)).toMatchObject({ offset: 7 });
  expect(await startsOver([[3, 1]], { createdDaysAgo: 2 }).resume(0, 0)).toMatchObject({ offset: 0 });
});

test("a feed does not resume beyond the head, or after an event that is not the one at its place", async () => {
  const { starts } = startsOver([[9, 1]]);
  await expect(starts.resume("o", `10-${createId(now)}`)).rejects.toEqual(tooOld);
  await expect(starts.resume("o", `9-${createId(now)}`)).rejects.toEqual(tooOld);
  await expect(starts.resume("nowhere", `9-${createId(now)}`)).rejects.toMatchObject({
    code: "organization_not_found",
  });
});
