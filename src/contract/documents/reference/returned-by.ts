import type { ErrorCode } from "../../errors/errors.ts";
import { errorCodesOf } from "../../errors/operation-errors.ts";
import type { Operations } from "../../operations/all.ts";
import type { Operation } from "../../operations/operation.ts";
import { type Html, html } from "./html.ts";
import { folded } from "./layout.ts";
import { operationPath } from "./paths.ts";

/** The operations that can return an error, which readers open; `undefined` if there are none. */
export function returnedBy(code: ErrorCode, operations: Operations): Html | undefined {
  const links = Object.values<Operation>(operations)
    .filter((operation) => errorCodesOf(operation).includes(code))
    .map((operation) => html`<li><a href="${operationPath(operation)}">${operation.summary}</a></li>`);
  if (links.length === 0) return undefined;
  const summary = `Returned by ${links.length} ${links.length === 1 ? "operation" : "operations"}`;
  return folded(summary, html`<ul class="codes">${links}</ul>`);
}
