import { expect, test } from "bun:test";
import { unavailable } from "../../contract/errors/errors.ts";
import { messageOf } from "../testing/log-suite.ts";
import { createBatchLog } from "./batch-log.ts";
import type { LogWriter } from "./log-writer.ts";

test("of a batch that fails as a whole, nothing is tried behind a send at which the database went away", async () => {
  const failures = [new Error("nobody foresaw this"), new Error("a bad one"), unavailable()];
  let commits = 0;
  const writer: Pick<LogWriter, "commitBatch"> = { commitBatch: () => Promise.reject(failures[commits++]) };
  const log = createBatchLog({ writer: writer as LogWriter });
  const outcomes = await log.appendAll(["a", "b", "c", "d"].map((id) => messageOf("o", { id })));
  const [, bad, away] = failures;
  expect(outcomes).toEqual([bad, away, away, away].map((error) => ({ outcome: "failed", error })));
  expect(commits).toBe(failures.length);
});
