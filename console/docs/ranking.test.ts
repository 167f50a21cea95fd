import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { guideKinds } from "../../src/contract/documents/guides.ts";
import { reference } from "../../src/contract/documents/reference/pages.ts";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createFinder, partsOf } from "./ranking.ts";

const folder = new URL("../../docs/", import.meta.url).pathname;
const guides = Object.keys(guideKinds).flatMap((kind) =>
  readdirSync(folder + kind)
    .filter((file) => file.endsWith(".md"))
    .map((file) => [`${kind}/${file}`, readFileSync(`${folder}${kind}/${file}`, "utf8")] as const),
);
const { search: pages } = reference(defaultPayloadLimits, new Map(guides));
const find = createFinder(partsOf(pages, (path, anchor) => `${path}#${anchor}`));

/** Where the first results for a query are. */
const first = (query: string, count = 1) =>
  find(query, count)
    .found.slice(0, count)
    .map(({ href }) => href);

test.each(["webhook", "presence", "token", "file", "limits", "proposal", "stream", "schedule"])(
  "a guide comes first for the word %s",
  (word) => {
    expect(first(word)[0]).toMatch(/^(?:how-to|tutorial)\//);
  },
);

test("a word finds its plural, as in the title of a guide", () => {
  expect(first("webhook")).toEqual(["how-to/webhooks#"]);
  expect(first("file", 2).toSorted()).toEqual(["how-to/keep-files#", "how-to/send-files#"]);
});

test.each([
  ["Webhook", "api/objects#Webhook"],
  ["post /admin/message", "api/messages#sendMessage"],
  ["conversation_not_found", "errors/conversation_not_found#"],
  ["4403", "close-codes/4403#"],
  ["trusted_proxies", "reference/settings#HERALD_TRUSTED_PROXIES"],
  ["herald read", "reference/cli#herald-read"],
])("what is called %s comes first", (name, href) => {
  expect(first(name)).toEqual([href]);
});
