import type { PutResource } from "../../services/directory/directory.ts";
import type { Answer } from "../call/answer.ts";

/** The answer that shows what a service returns. */
export async function answerShowing(body: Promise<unknown>): Promise<Answer> {
  return { status: 200, body: await body };
}

/** The answer without a body, once a service has done its work. */
export async function answerDone(work: Promise<unknown>): Promise<Answer> {
  await work;
  return { status: 204 };
}

/** The answer to a `PUT`: 201 if it created something, 200 if that existed. */
export async function answerPut(put: Promise<PutResource>): Promise<Answer> {
  const { resource, isNew } = await put;
  return { status: isNew ? 201 : 200, body: resource };
}
