import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allPages, root } from "./markdown.ts";

/** Options that GNU's commands have, and those of macOS do not, or not in this form. */
const gnuOnly =
  /\bstat -c\b|\bdate\b[^\n|;)]* (-\w*d\b|--)|\bsed -i\b(?! '')|\bbase64 (-w|--wrap)|\bgrep -\w*P|\breadlink -f|\bxargs -r|\bsha256sum\b|\bnproc\b/;

test("what a newcomer types works on macOS, too", () => {
  const blocks = allPages()
    .filter(({ path }) => !path.startsWith("docs/decisions/"))
    .flatMap(({ path, blocks }) => blocks.map((block) => ({ place: `${path}:${block.line}`, ...block })))
    .filter(({ language }) => language === "sh");
  expect(blocks.length).toBeGreaterThan(100);
  expect(blocks.filter(({ text }) => gnuOnly.test(text)).map(({ place }) => place)).toEqual([]);
  expect("date -u -d tomorrow").toMatch(gnuOnly);
  expect("date -u +%F").not.toMatch(gnuOnly);
  expect(readFileSync(join(root, "examples/curl/send.sh"), "utf8")).not.toMatch(gnuOnly);
});
