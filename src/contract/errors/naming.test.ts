import { expect, test } from "bun:test";
import { errorCatalogue } from "./errors.ts";
import { absent, errorAbout, findingIn, isNaming, quoted } from "./naming.ts";

test("an id is quoted as it is, unless it is too long or has control characters", () => {
  for (const id of ["c1", "a b/c`d", "🦉".repeat(128), "x".repeat(128)]) expect(quoted(id)).toBe(`\`${id}\``);
  expect(quoted("x".repeat(129))).toBe(`\`${"x".repeat(128)}…\``);
  expect(quoted("🦉".repeat(1_000))).toBe(`\`${"🦉".repeat(128)}…\``);
  expect(quoted("a\u0000b\nc\u009fd")).toBe("`a\ufffdb\ufffdc\ufffdd`");
});

test("a detail says what is wrong with which thing, and what to do, and can be taken apart again", () => {
  const ids = { message: "m", file: "f", proposal: "p", id: "i" };
  const names = { organization: "o", conversation: "c", sender: "s", user: "u", ...ids };
  for (const code of Object.keys(errorCatalogue) as (keyof typeof errorCatalogue)[]) {
    if (!isNaming(code)) continue;
    const { message: detail } = errorAbout(code, names);
    const finding = findingIn({ code, detail });
    expect(finding).toMatch(/^[a-z][^;{}]*`\w`[^;{}]*$/);
    expect(detail).toStartWith(`${finding}; `);
    expect(detail).not.toEndWith(".");
  }
  expect(findingIn({ code: "not_found", detail: absent("webhook", "w").message })).toBe(
    "the webhook `w` does not exist",
  );
  expect(findingIn({ code: "of a later version", detail: "x; y" })).toBe("x; y");
});
