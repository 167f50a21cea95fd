import { expect, test } from "bun:test";
import { createProgram } from "./herald.ts";
import { createOutput } from "./output/output.ts";
import { withKnownWords } from "./synonyms.ts";
import { runHerald } from "./testing/run-herald.ts";

const read = (text: string) => withKnownWords(createProgram(createOutput()), text.split(" ")).join(" ");

test.each([
  ["org create bakery", "orgs put bakery"],
  ["organizations add bakery --name create", "orgs put bakery --name create"],
  ["organisation update bakery", "orgs put bakery"],
  ["user show bob", "users get bob"],
  ["users set bob", "users put bob"],
  ["conversation rm c", "conversations delete c"],
  ["conversations remove c", "conversations delete c"],
  ["member create bob", "participants add bob"],
  ["participants rm bob", "participants remove bob"],
  ["key new --name k", "keys create --name k"],
  ["keys delete k", "keys revoke k"],
  ["key ls", "keys list"],
  ["webhook create w", "webhooks put w"],
  ["file add f", "files upload f"],
  ["scheduled rm s", "schedule cancel s"],
  ["--json users ls", "--json users list"],
])("%s means %s", (given, meant) => {
  expect(read(given)).toBe(meant);
});

test.each(["orgs put create", "users list ls", "tokens create", "token show", "send message show", "create"])(
  "%s stays as it is",
  (given) => expect(read(given)).toBe(given),
);

test("what follows a word that is no command is left out", () => {
  expect(read("--json key update k --help")).toBe("keys update");
});

test("every group of which things can be listed knows all words for what it can do", () => {
  for (const group of createProgram(createOutput()).commands) {
    const names = group.commands.map((command) => command.name());
    if (!names.includes("list")) continue;
    const made = ["put", "create", "add", "upload"].find((name) => names.includes(name));
    const removed = ["delete", "remove", "revoke", "cancel"].find((name) => names.includes(name));
    const after = (word: string) => read(`${group.name()} ${word} x`).split(" ")[1];
    if (made) expect(["create", "add", "new"].map(after)).toEqual([made, made, made]);
    if (removed) expect(["delete", "rm", "remove"].map(after)).toEqual([removed, removed, removed]);
    if (names.includes("get")) expect(["show", "get"].map(after)).toEqual(["get", "get"]);
    expect(after("ls")).toBe("list");
  }
});

test("the help of another word is that of the command, which help and completion name once", async () => {
  const asked = await runHerald(["organizations", "create", "--help"]);
  expect(asked).toEqual(await runHerald(["orgs", "put", "--help"]));
  expect(asked.code).toBe(0);
  expect((await runHerald(["help", "org", "create"])).stdout).toBe(asked.stdout);
  const group = await runHerald(["orgs", "--help"]);
  expect(group.stdout).not.toMatch(/\||create <|organization[s]? (put|list)/);
  const unknown = await runHerald(["orgs", "frobnicate"]);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("unknown command 'frobnicate'");
});
