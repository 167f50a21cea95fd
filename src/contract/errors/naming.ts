import { type ErrorCode, errorCatalogue, HeraldError, type NamesOf, type NamingCode } from "./errors.ts";

const slot = /\{(\w+)\}/g;
const mostCharacters = 128; // of an identifier
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/g;

/** An id in the text of an error, as the caller wrote it: at most 128 characters, without control characters. */
export function quoted(id: string): string {
  const shown = id.replace(controlCharacters, "\ufffd");
  if (shown.length <= mostCharacters) return `\`${shown}\``;
  const characters = [...shown.slice(0, 2 * mostCharacters + 1)];
  return characters.length > mostCharacters ? `\`${characters.slice(0, mostCharacters).join("")}…\`` : `\`${shown}\``;
}

/** Whether the details of errors with this code name what the caller named. */
export function isNaming(code: ErrorCode): code is NamingCode {
  return "finding" in errorCatalogue[code];
}

/** The detail of an error without the advice of the catalogue, for those who give it in another place or other words. */
export function findingIn({ code, detail }: { code: string; detail: string }): string {
  const nextStep = isKnown(code) && isNaming(code) ? nextStepOf(code) : "";
  return detail.endsWith(nextStep) ? detail.slice(0, detail.length - nextStep.length) : detail;
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}

/** What to do, as the second half of a detail. */
function nextStepOf(code: NamingCode): string {
  const { advice } = errorCatalogue[code];
  return `; ${advice.charAt(0).toLowerCase()}${advice.slice(1).replace(/\.$/, "")}`;
}

/** The error about something that the caller named: its detail says which, what is wrong with it, and what to do next. */
export function errorAbout<Code extends NamingCode>(code: Code, names: NamesOf<Code>): HeraldError {
  const given: Record<string, string> = names;
  const finding = errorCatalogue[code].finding.replace(slot, (_, name: string) => quoted(given[name] ?? ""));
  return new HeraldError(code, `${finding}${nextStepOf(code)}`);
}

/** The 404 about something without a code of its own, such as a webhook. */
export function absent(thing: string, id: string): HeraldError {
  return new HeraldError("not_found", `the ${thing} ${quoted(id)} does not exist`);
}
