import type { Command } from "commander";
import type { OwnApiKey } from "../../../../sdk/admin.ts";
import { checkProfileName, defaultProfile, profilesFile, readProfiles, writeProfiles } from "../../access/profiles.ts";
import { ask, canAsk, readLine } from "../../access/prompt.ts";
import { enteredKey, findAddress, isOnThisMachine, readClientEnvironment } from "../../access/target.ts";
import { parsePositive } from "../../arguments.ts";
import { createCommandClient } from "../../client-options.ts";
import { AdvisedError } from "../../errors/advised-error.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";

type LoginOptions = { url?: string; profile?: string; timeout?: number; json?: true };

/** `herald login`. The key comes from a prompt or from standard input: an option would show it in the process list. */
export function addLoginCommand(program: Command, output: Output): void {
  program
    .command("login")
    .description("check an API key with a server, and save both as a profile, which commands use from then on")
    .option("--url <url>", "server address (default: that of the profile, or else that of the server on this machine)")
    .option("--profile <profile>", `profile to create or replace (default: HERALD_PROFILE, or else ${defaultProfile})`)
    .option("--timeout <seconds>", "how long to wait for a response (default: 30)", parsePositive)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nThe key is asked for, or read from standard input. It is saved in a file that only you can read.\n\nExamples:\n  herald login --url https://herald.example.org\n  herald login --profile staging --url https://staging.example.org < key-file",
    )
    .action((options: LoginOptions) => login(options, output));
}

async function login(options: LoginOptions, output: Output): Promise<void> {
  const name = checkProfileName(options.profile ?? readClientEnvironment().profile ?? defaultProfile);
  const { profiles } = readProfiles(); // before the question, because it may throw
  const address = findAddress(options, Object.hasOwn(profiles, name) ? profiles[name] : undefined);
  const { url } = address;
  const key = canAsk() ? (await ask(`Admin API key for ${url}: `, { isHidden: true })).trim() : await readLine("key");
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new CliError(exitCodes.usage, "this is not an API key: one has visible ASCII characters. Nothing was saved.");
  const own = await createCommandClient(url, key, options.timeout)
    .getOwnKey()
    .catch((error: unknown) => {
      throw new AdvisedError(error, "Nothing was saved.", { ...address, keyFrom: enteredKey });
    });
  writeProfiles({ current: name, profiles: { ...profiles, [name]: { url, key } } });
  if (options.json) return output.json({ profile: name, url, key: own });
  output.result(printableLine(`logged in to ${url} as profile ${name}, with ${describeKey(own)}`));
  output.note(output.noteStyle.dim(`saved in ${profilesFile()}; commands use this profile from now on`));
  if (url.startsWith("http:") && !isOnThisMachine(url))
    output.note(`${url} is plain HTTP: anyone on the way to it can read the key. Use https:// if the server has it.`);
}

function describeKey({ name, scopes, organization }: OwnApiKey): string {
  const where = organization === null ? "" : ` in organization ${organization}`;
  return `the key "${name}", which may ${scopes.includes("*") ? "do everything" : `use ${scopes.join(", ")}`}${where}`;
}
