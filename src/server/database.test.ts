import { describe, expect, test } from "bun:test";
import { unavailable } from "../contract/errors/errors.ts";
import { checkStore } from "./database.ts";

/** The health of a database whose reads end this way, and what is logged. */
async function check(all: () => Promise<never[]>) {
  const told: unknown[] = [];
  return { answer: await checkStore({ all }, (error) => told.push(error)), told };
}

describe("the health of the database", () => {
  test("is ok if it can be read", async () => {
    expect(await check(async () => [])).toEqual({ answer: "ok", told: [] });
  });

  test("is a short text while it is away, which is logged elsewhere", async () => {
    const { answer, told } = await check(() =>
      Promise.reject(unavailable({ cause: new Error("ECONNREFUSED db:5432") })),
    );
    expect({ answer, told }).toEqual({ answer: "does not respond", told: [] });
  });

  test("keeps the database's own words to the log, as anyone may ask", async () => {
    const error = new Error('password authentication failed for user "herald"');
    expect(await check(() => Promise.reject(error))).toEqual({
      answer: "cannot be read; see this node's log",
      told: [error],
    });
  });
});
