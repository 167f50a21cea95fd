import { describe, expect, test } from "bun:test";
import { unavailable } from "../../contract/errors/errors.ts";
import type { NewSend } from "../../store/ports.ts";
import { createAwaitedSends } from "./awaited-sends.ts";
import type { WaitFor } from "./waits.ts";

const message: NewSend = {
  org: "o",
  kind: "message",
  id: "e",
  cid: "c",
  sender: "ann",
  mid: "m",
  fingerprint: "",
  payload: "{}",
  uids: undefined,
  createdAt: 0,
  keyId: "k",
};
const stored = { outcome: "stored", id: "e" } as const;
const replayed = { outcome: "replayed", id: "earlier" } as const;
const wish = { seconds: 5, signal: new AbortController().signal };
const counts = { online: 2, delivered: 2, acknowledged: 1 };
const figures = {
  recipients: 7,
  delivered_users: 4,
  delivered_connections: 5,
  acknowledged_users: 3,
  first_delivered_at: null,
  last_delivered_at: null,
};

/** Awaited sends whose waits end at once, or are not begun, on a store that may be away. */
function prepare({ isFull = false, storeFault }: { isFull?: boolean; storeFault?: unknown } = {}) {
  const opened: WaitFor[] = [];
  const errors: unknown[] = [];
  let ended = 0;
  const read = async <Found>(found: Found): Promise<Found> => {
    if (storeFault !== undefined) throw storeFault;
    return found;
  };
  const { follow } = createAwaitedSends({
    waits: {
      open(wanted) {
        opened.push(wanted);
        return isFull ? undefined : { counts: Promise.resolve(counts), end: () => void ended++ };
      },
    },
    sent: { message: () => read({ recipients: 3 }) },
    deliveryReports: {
      message: () => read({ delivery: figures }),
      systemMessage: () => read({ delivery: figures }),
    },
    onError: (error) => errors.push(error),
  });
  return { follow, opened, errors, ended: () => ended };
}

describe("an awaited send", () => {
  test("asks for its event, by the id that clients acknowledge, and counts its recipients", async () => {
    const { follow, opened, ended } = prepare();
    const of = async (send: NewSend) => (await follow(send, wish, async () => stored)).waited?.counts;
    expect(await of(message)).toEqual({ recipients: 3, ...counts });
    const system: NewSend = { ...message, kind: "system", cid: undefined, uids: ["bob", "cat"] };
    expect(await of(system)).toEqual({ recipients: 2, ...counts });
    expect(await of({ ...system, uids: [] })).toEqual({ recipients: 7, ...counts }); // which names nobody
    expect(opened.map(({ event, ack }) => [event, ack])).toEqual([
      ["e", "e"],
      ["e", "m"],
      ["e", "m"],
    ]);
    expect(ended()).toBe(3);
  });

  test("tells of a replayed send what its report knows", async () => {
    const { follow, ended } = prepare();
    const { waited } = await follow(message, wish, async () => replayed);
    expect(waited?.counts).toEqual({ recipients: 7, online: 4, delivered: 4, acknowledged: 3 });
    expect(ended()).toBe(1);
  });

  test("is stored all the same if too many are waiting, or the store does not say how many recipients there are", async () => {
    expect(await prepare({ isFull: true }).follow(message, wish, async () => stored)).toEqual(stored);
    const fault = new Error("a bug");
    for (const storeFault of [unavailable({ detail: "the database is away" }), fault]) {
      const { follow, errors } = prepare({ storeFault });
      expect(await follow(message, wish, async () => stored)).toEqual(stored);
      expect((await follow(message, wish, async () => replayed)).waited).toBeUndefined();
      expect(errors).toEqual(storeFault === fault ? [fault, fault] : []);
    }
  });

  test("rejects as its append does, and then waits for nothing", async () => {
    const { follow, ended } = prepare();
    const refused = follow(message, wish, () => Promise.reject(new Error("refused")));
    await expect(refused).rejects.toThrow("refused");
    expect(ended()).toBe(1);
  });
});
