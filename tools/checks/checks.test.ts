import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failuresIn, summarize } from "../test-summary.ts";
import { undocumented } from "./check-docstrings.ts";
import { isAllowed } from "./check-licences.ts";
import { undocumentedMembers } from "./public-members.ts";

describe("docstrings", () => {
  test("an export without one is named with its line", () => {
    expect(undocumented("/** Why. */\nexport const a = 1;\nexport async function b() {}\n")).toEqual(["3: b"]);
  });

  test("a plain comment does not count", () => {
    expect(undocumented("/* Not one. */\nexport type A = 1;\n// Nor this.\nexport class B {}")).toEqual([
      "2: A",
      "4: B",
    ]);
  });

  test("an overload, a linter directive and a type inferred from a documented schema need no second one", () => {
    const overload = "/** Why. */\nexport function f(a: 1): 1;\nexport function f(a: 2): 2;";
    const directive = "/** Why. */\n// biome-ignore lint/x: reason\nexport const a = 1;";
    const schema = "/** Why. */\nexport const s = z.string();\nexport type S = z.infer<typeof s>;";
    expect([overload, directive, schema].flatMap(undocumented)).toEqual([]);
  });

  test("a type inferred from an undocumented schema needs one", () => {
    expect(undocumented("const s = z.string();\nexport type S = z.infer<typeof s>;")).toEqual(["2: S"]);
  });
});

describe("licences", () => {
  test("one allowed side of OR is enough, AND needs both", () => {
    expect(isAllowed("(GPL-2.0 OR MIT)", "x")).toBe(true);
    expect(isAllowed("GPL-2.0 AND MIT", "x")).toBe(false);
    expect(isAllowed("MIT AND ISC", "x")).toBe(true);
  });

  test("a licence for data is allowed for packages of data only", () => {
    expect(isAllowed("CC-BY-4.0", "caniuse-lite")).toBe(true);
    expect(isAllowed("CC-BY-4.0", "x")).toBe(false);
  });
});

describe("the CI's closing line", () => {
  test("uses bun's last summary", () => {
    const output =
      " 9 pass\n 9 fail\nRan 18 tests across 1 file. [1ms]\n\n\n 3 pass\n 1 skip\n 4 fail\n 1 error\nRan 8 tests across 3 files. [2ms]\n";
    expect(summarize(output)).toEqual({ passed: 3, failed: 4 });
  });

  test("without a summary, nothing ran", () => {
    expect(summarize("error: bun: command not found")).toEqual({ passed: 0, failed: 0 });
  });

  test("a failure is shown with the output since the test before it, 30 lines at most", () => {
    const said = [
      "(pass) a",
      "error: not 1",
      "  at x.ts:3",
      "(fail) b [2ms]",
      "(pass) c",
      "",
      "1 tests failed:",
      "(fail) b [2ms]",
    ];
    expect(failuresIn(said.join("\n"))).toEqual(["error: not 1\n  at x.ts:3\n(fail) b [2ms]"]);
    const long = [...Array.from({ length: 100 }, (_, index) => `line ${index}`), "(fail) d"];
    expect(failuresIn(long.join("\n"))).toEqual([long.slice(-31).join("\n")]);
    expect(failuresIn("(pass) a\n 1 pass")).toEqual([]);
  });
});

describe("public members", () => {
  test("each export, member, nested member and method without a docstring is found, also of what a function returns", () => {
    const folder = mkdtempSync(join(tmpdir(), "herald-members-"));
    try {
      writeFileSync(
        join(folder, "calls.d.ts"),
        "export declare function create(): {\n  /** Documented. */\n  one(): void;\n  two(): void;\n};\n",
      );
      writeFileSync(
        join(folder, "index.d.ts"),
        [
          'import type { create } from "./calls.js";',
          "/** Documented. */\nexport type Known = {\n  /** Documented. */\n  a: string;\n  b: { c: 1 };\n};",
          "export declare const silent: number;",
          "/** Documented. */\nexport type Calls = ReturnType<typeof create>;",
          "/** Documented. */\nexport declare class Fault extends Error {\n  readonly code: string;\n}",
        ].join("\n"),
      );
      expect(undocumentedMembers(folder, ["index.d.ts"])).toEqual([
        "Calls.two",
        "Fault.code",
        "Known.b",
        "Known.b.c",
        "silent",
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
