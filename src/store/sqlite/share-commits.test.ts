import { expect, test } from "bun:test";
import type { NewSend, SendOutcome } from "../ports.ts";
import { messageOf } from "../testing/log-suite.ts";
import { shareCommits } from "./share-commits.ts";

/** A log whose commits end when they are told to. */
function createLog() {
  const commits: { ids: string[]; end(error?: unknown): void }[] = [];
  return {
    commits,
    appendAll(sends: NewSend[]): Promise<SendOutcome[]> {
      const { promise, resolve, reject } = Promise.withResolvers<SendOutcome[]>();
      const outcomes = sends.map(({ id }, offset) => ({
        outcome: "stored" as const,
        id,
        createdAt: 0,
        offset,
        prev: undefined,
      }));
      const end = (error?: unknown) => (error === undefined ? resolve(outcomes) : reject(error));
      commits.push({ ids: sends.map(({ id }) => id), end });
      return promise;
    },
  };
}

const batch = (...ids: string[]) => ids.map((id) => ({ ...messageOf("o"), id, payload: "1234" }));
const idsOf = (outcomes: SendOutcome[]) => outcomes.map((outcome) => (outcome.outcome === "stored" ? outcome.id : ""));
const most = { sends: 4, characters: 12 };

test("batches that arrive during a commit share the next one, in order, and each gets its own outcomes", async () => {
  const { appendAll, commits } = createLog();
  const append = shareCommits(appendAll, most);
  const first = append(batch("a"));
  await Bun.sleep(0);
  const all = [first, append(batch("b", "c")), append(batch("d"))];
  expect(commits.map(({ ids }) => ids)).toEqual([["a"]]);
  commits[0]?.end();
  await all[0];
  expect(commits[1]?.ids).toEqual(["b", "c", "d"]);
  commits[1]?.end();
  expect((await Promise.all(all)).map(idsOf)).toEqual([["a"], ["b", "c"], ["d"]]);
});

test("a commit takes no more than fits, but always a batch, however large", async () => {
  const { appendAll, commits } = createLog();
  const append = shareCommits(appendAll, most);
  const sizes = [["first"], ["1", "2"], ["3", "4"], ["5", "6", "7", "8", "9"], ["10"], ["11"], ["12"], ["13"]];
  const all: Promise<SendOutcome[]>[] = [];
  for (const ids of sizes) {
    all.push(append(batch(...ids)));
    if (all.length === 1) await Bun.sleep(0);
  }
  for (let index = 0; index < commits.length; index++) {
    commits[index]?.end();
    await Bun.sleep(0);
  }
  await Promise.all(all);
  expect(commits.map(({ ids }) => ids.length)).toEqual([1, 2, 2, 5, 3, 1]);
});

test("batches of a commit that fails are told so, and later ones are tried", async () => {
  const { appendAll, commits } = createLog();
  const append = shareCommits(appendAll, most);
  const first = append(batch("a"));
  await Bun.sleep(0);
  const failed = [first, append(batch("b")), append(batch("c"))].map((one) => one.catch(String));
  commits[0]?.end(new Error("no"));
  await failed[0];
  await Bun.sleep(0);
  commits[1]?.end(new Error("no again"));
  expect(await Promise.all(failed)).toEqual(["Error: no", "Error: no again", "Error: no again"]);
  const later = append(batch("d"));
  await Bun.sleep(0);
  commits[2]?.end();
  expect(idsOf(await later)).toEqual(["d"]);
});
