import { expect, test } from "bun:test";
import { type ErrorCode, errorCatalogue } from "../../src/contract/errors/errors.ts";
import { errorAbout, isNaming } from "../../src/contract/errors/naming.ts";
import { allPages, type Block } from "./markdown.ts";

type Quote = { place: string; code: ErrorCode; status?: unknown; title?: unknown; detail?: unknown };

const isKnown = (code: unknown): code is ErrorCode => typeof code === "string" && Object.hasOwn(errorCatalogue, code);

/** Every error in a value, however deep. */
function* errorsIn(value: unknown, place: string): Generator<Quote> {
  if (typeof value !== "object" || value === null) return;
  const { code, status, title, detail, message } = value as Record<string, unknown>;
  if (isKnown(code)) yield { place, code, status, title, detail: detail ?? message };
  for (const member of Object.values(value)) yield* errorsIn(member, place);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The errors that a block quotes: as JSON, in the whole or in lines, or as `403 code: detail`. */
function* quotesIn({ text, line }: Block, path: string): Generator<Quote> {
  const place = `${path}:${line}`;
  const whole = parsed(text);
  yield* errorsIn(whole, place);
  if (whole === undefined) for (const one of text.split("\n")) yield* errorsIn(parsed(one), place);
  for (const [, status, code, detail] of text.matchAll(/\b([45]\d\d) ([a-z_]+)(?:: (.*))?$/gm))
    if (isKnown(code)) yield { place, code, status: Number(status), detail };
}

/** What the detail of an error about something that the caller named looks like. */
function shapeOf(code: ErrorCode): RegExp {
  if (!isNaming(code)) return /./;
  const ids = { message: "?", file: "?", proposal: "?", id: "?" };
  const names = { organization: "?", conversation: "?", sender: "?", user: "?", ...ids };
  const shape = errorAbout(code, names).message.split("`?`").map(RegExp.escape).join("`[^`]+`");
  return new RegExp(`^${shape}$`);
}

const pages = allPages();
const quotes = pages.flatMap(({ path, blocks }) => blocks.flatMap((block) => [...quotesIn(block, path)]));

test("the errors that pages quote are those of the server", () => {
  expect(quotes.length).toBeGreaterThan(5);
  for (const { place, code, status, title, detail } of quotes) {
    const entry = errorCatalogue[code];
    if (status !== undefined) expect({ place, code, status }).toEqual({ place, code, status: entry.status });
    if (title !== undefined) expect({ place, code, title }).toEqual({ place, code, title: entry.title });
    const isWhole = typeof detail === "string" && !detail.replaceAll("…/", "").includes("…");
    if (isWhole) expect({ place, detail }).toEqual({ place, detail: expect.stringMatching(shapeOf(code)) });
  }
});
