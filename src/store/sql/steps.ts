import { unavailable } from "../../contract/errors/errors.ts";

const maxSteps = 10_000;

/** Repeats a step until it has a result. Rejects with `unavailable` if others keep adding work for too long. */
export async function inSteps<Result>(step: () => Promise<Result | "more">): Promise<Result> {
  for (let count = 0; count < maxSteps; count++) {
    const result = await step();
    if (result !== "more") return result;
  }
  throw unavailable({ detail: "other calls are changing the same data; try again" });
}
