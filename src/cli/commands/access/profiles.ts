import type { Command } from "commander";
import { findProfile, type Profile, readProfiles, writeProfiles } from "../../access/profiles.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";

/** A profile without its secret. */
type Shown = { profile: string; url: string; key: string; current: boolean };

const columns: Column<Shown>[] = [
  { title: "PROFILE", cell: ({ profile }) => profile },
  { title: "CURRENT", cell: ({ current }) => (current ? "yes" : "") },
  { title: "ADDRESS", cell: ({ url }) => url },
  { title: "KEY", cell: ({ key }) => key },
];

/** `herald profiles`. */
export function addProfilesCommand(program: Command, output: Output): void {
  program
    .command("profiles")
    .description("list the profiles that `herald login` saved, or choose the current one")
    .option("--use <profile>", "make this profile the current one, which commands use unless they are told otherwise")
    .option("--json", "print each profile as one JSON object on a line")
    .addHelpText("after", "\nExamples:\n  herald profiles\n  herald profiles --use staging")
    .action(({ use, json }: { use?: string; json?: true }) => {
      const saved = readProfiles();
      if (use !== undefined) {
        findProfile(saved, use);
        writeProfiles({ ...saved, current: use });
      }
      const current = use ?? saved.current;
      const shown = Object.entries(saved.profiles).map(([name, profile]) => show(name, profile, current));
      if (json) for (const each of shown) output.json(each);
      else if (shown.length === 0) output.note("There are no profiles yet. `herald login` creates one.");
      else createTable(columns, output).print(shown);
    });
}

/** Shows the id in the key, and nothing of the secret. A key that the operator made up has no id. */
function show(name: string, { url, key }: Profile, current: string | null): Shown {
  const [, id] = /^hk_([0-9a-f-]{36})_/.exec(key) ?? [];
  return { profile: name, url, key: id ?? "(hidden)", current: name === current };
}

/** `herald logout`. */
export function addLogoutCommand(program: Command, output: Output): void {
  program
    .command("logout")
    .description("forget a profile with its key; the key itself stays valid until it is revoked")
    .option("--profile <profile>", "profile to forget (default: the current one)")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExamples:\n  herald logout\n  herald logout --profile staging")
    .action(({ profile, json }: { profile?: string; json?: true }) => {
      const saved = readProfiles();
      const name = profile ?? saved.current;
      if (name === null) {
        if (json) return output.json({ profile: null });
        return output.note("There is no current profile. `herald profiles` lists all; give one with --profile.");
      }
      findProfile(saved, name);
      const { [name]: _forgotten, ...profiles } = saved.profiles;
      writeProfiles({ current: saved.current === name ? null : saved.current, profiles });
      if (json) return output.json({ profile: name });
      output.result(printableLine(`logged out: profile ${name} and its key are forgotten`));
      output.note(output.noteStyle.dim("the key stays valid; `herald keys revoke` revokes a key"));
    });
}
