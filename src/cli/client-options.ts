import { type Command, Option } from "commander";
import { type AdminClient, createAdmin } from "../../sdk/admin.ts";
import { type FoundKey, findTarget, type Target, type TargetOptions } from "./access/target.ts";
import { parsePositive } from "./arguments.ts";

/** The options of every command that calls a server. */
export type ClientOptions = TargetOptions & { timeout?: number };

/** The server that a command calls. `admin` creates the admin client on demand, because not every command needs a key. */
export type ServerAccess = { url: string; admin: () => AdminClient };

/** How long a command waits for a response if it is not told. */
export const defaultTimeoutSeconds = 30;

/** Adds `--url`, `--key`, `--profile`, `--config` and `--timeout` to a command. */
export function addClientOptions(command: Command): Command {
  const options = [
    new Option(
      "--url <url>",
      "server address, the internal one if there is one (default: HERALD_URL, or else from the settings HERALD_ADMIN_HOST and HERALD_ADMIN_PORT, or HERALD_HOST and HERALD_PORT, or else of the profile, or else http://127.0.0.1:7070)",
    ),
    new Option(
      "--key <key>",
      "admin API key (default: HERALD_ADMIN_API_KEY, or else of the profile, or else the file <HERALD_DATA_DIR>/admin-api-key); other users of this machine can see it in the process list",
    ),
    new Option(
      "--profile <profile>",
      "profile to use, from `herald login` (default: HERALD_PROFILE, or else the current one)",
    ),
    new Option("--config <file>", "settings file, as for `herald serve`"),
    new Option("--timeout <seconds>", `how long to wait for a response (default: ${defaultTimeoutSeconds})`).argParser(
      parsePositive,
    ),
  ];
  for (const option of options) command.addOption(option.helpGroup("Server options:"));
  return command;
}

/** Determines which server a command calls. Throws a `CliError` that says what to do if the options do not tell. */
export function accessServer(options: ClientOptions): ServerAccess {
  const { url, findKey } = findTarget(options);
  return { url, admin: () => createCommandClient(url, findKey().key, options.timeout) };
}

/** Creates an admin client for one command. Two retries: the user waits for less than a second, and a restart causes no error. */
export function createCommandClient(url: string, key: string, timeout = defaultTimeoutSeconds): AdminClient {
  const timeoutMs = timeout * 1000;
  return createAdmin({ url, key, retries: 2, timeoutMs, deadlineMs: timeoutMs });
}

/** Where the address and the key of a command's server come from, or `undefined` if its options do not tell. Never throws. */
export function describeTarget(options: ClientOptions): Target | undefined {
  try {
    const { findKey, url, urlFrom } = findTarget(options);
    return { url, urlFrom, ...describeKey(findKey) };
  } catch {
    return undefined;
  }
}

/** A command that got this far without a key does not need one. */
function describeKey(findKey: () => FoundKey): Omit<FoundKey, "key"> {
  try {
    const { key: _secret, ...origin } = findKey();
    return origin;
  } catch {
    return { keyFrom: "--key" };
  }
}
