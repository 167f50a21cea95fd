import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine, runHerald } from "../testing/run-herald.ts";

const askZsh = new URL("../testing/ask.zsh", import.meta.url).pathname;

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "herald-completion-"));
  mkdirSync(join(folder, "herald"));
  const profiles = {
    "main-site": { url: "http://127.0.0.1:1", key: "k" },
    other: { url: "http://127.0.0.1:2", key: "k" },
  };
  writeFileSync(join(folder, "herald/profiles.json"), JSON.stringify({ current: null, profiles }), { mode: 0o600 });
  writeFileSync(join(folder, "herald-settings.env"), "");
  const { command } = commandLine([]);
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/herald"), `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`);
  chmodSync(join(folder, "bin/herald"), 0o755);
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await runHerald(["completion", shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    writeFileSync(join(folder, `completion.${shell}`), stdout);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

async function output(command: string[], env: Record<string, string> = {}): Promise<string[]> {
  const path = `${join(folder, "bin")}:${process.env.PATH}`;
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { ...process.env, PATH: path, XDG_CONFIG_HOME: folder, HOME: folder, TERM: "dumb", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  expect(await new Response(child.stderr).text()).toBe("");
  const lines = (await new Response(child.stdout).text()).split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "");
}

/** What each shell completes the last of these words to. */
const shells: Record<string, (words: string[]) => Promise<string[]>> = {
  bash: (words) =>
    output([
      "bash",
      "--norc",
      "-c",
      `source ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _herald; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      ...words,
    ]),
  zsh: (words) => output(["zsh", "-f", askZsh, words.join(" ")]),
  fish: async (words) =>
    (
      await output(["fish", "--no-config", "-c", `source ./completion.fish; complete -C ${fishWord(words.join(" "))}`])
    ).map((line) => line.split("\t")[0] ?? ""),
};

const fishWord = (text: string) => `'${text.replaceAll("'", "\\'")}'`;

const installed = Object.keys(shells).filter((shell) => Bun.which(shell) !== null);
for (const shell of Object.keys(shells))
  if (!installed.includes(shell)) console.log(`${shell} is not installed, so its completion is not tested`);

describe.each(installed)("%s completes", (shell) => {
  const complete = (...words: string[]) => shells[shell]?.(["herald", ...words]) ?? Promise.resolve([]);

  test("commands, also below a group", async () => {
    expect(await complete("or")).toEqual(["orgs"]);
    expect((await complete("")).toSorted()).toContain("serve");
    expect((await complete("keys", "r")).toSorted()).toEqual(["revoke", "rotate"]);
    expect(await complete("")).not.toContain("worker");
  });

  test("options, and only those of the command", async () => {
    expect(await complete("users", "get", "--j")).toEqual(["--json"]);
    expect(await complete("users", "get", "bob", "--org", "demo", "--ti")).toEqual(["--timeout"]);
    expect(await complete("keys", "create", "--sc")).toEqual(["--scope"]);
    expect(await complete("orgs", "list", "--sc")).toEqual([]);
  });

  test("values: choices, profiles, files", async () => {
    expect((await complete("tail", "--kind", "")).toSorted()).toEqual([
      "message",
      "message_append",
      "message_delete",
      "message_edit",
      "message_reactions_update",
      "message_read",
      "system_message",
      "system_message_delete",
      "system_message_read",
    ]);
    expect(await complete("completion", "f")).toEqual(["fish"]);
    expect(await complete("orgs", "list", "--profile", "ma")).toEqual(["main-site"]);
    expect(await complete("orgs", "list", "--config", "herald-s")).toEqual(["herald-settings.env"]);
    expect(await complete("orgs", "list", "--url", "")).toEqual([]);
  });

  test("a word that is a value, and has the name of a command, starts nothing", async () => {
    expect(await complete("send", "message", "--org", "keys", "--dr")).toEqual(["--dry-run"]);
  });
});
