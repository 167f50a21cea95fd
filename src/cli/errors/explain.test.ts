import { expect, test } from "bun:test";
import { unavailable } from "../../contract/errors/errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { explain } from "./explain.ts";

test("a database that does not respond is no bug to report", async () => {
  const { exitCode, message } = await explain(unavailable());
  expect(exitCode).toBe(exitCodes.failed);
  expect(message).toStartWith("the database does not respond");
});

test("an error that nobody expected is", async () => {
  const { exitCode, message } = await explain(new TypeError("oops"));
  expect(exitCode).toBe(exitCodes.failed);
  expect(message).toStartWith("unexpected error. Please report it:\n");
});
