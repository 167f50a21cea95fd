import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type AdminClient, createAdminClient } from "../../sdk/index.ts";
import { type Config, internalAddressOf, loadConfig, publicAddressOf } from "../config.ts";
import { CliError, exitCodes } from "./exit-codes.ts";

/** The options of every command that calls a server. */
export type ClientOptions = { url?: string; key?: string; config?: string };

/** The server that a command calls. `admin` creates the admin client on demand, because not every command needs a key. */
export type ServerAccess = { url: string; admin: () => AdminClient };

/** The file in the data folder that holds the key generated at the first start. */
const keyFile = "admin-api-key";

/** Adds `--url`, `--key` and `--config` to a command. */
export function addClientOptions(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "server address, the internal one if there is one (default: from the settings HERALD_ADMIN_HOST and HERALD_ADMIN_PORT, or HERALD_HOST and HERALD_PORT, or http://127.0.0.1:7070)",
    )
    .option(
      "--key <key>",
      "admin API key (default: HERALD_ADMIN_API_KEY, or else the file <HERALD_DATA_DIR>/admin-api-key); other users of this machine can see it in the process list",
    )
    .option("--config <file>", "settings file, as for `herald serve`");
}

/** Determines which server a command calls. Throws a `CliError` that says what to do if the options do not tell. */
export function accessServer(options: ClientOptions): ServerAccess {
  const config = loadConfig(process.env, options.config);
  const url = options.url === undefined ? urlOf(config) : checkUrl(options.url);
  // Two retries: the user waits for less than a second, and a server restart does not cause an error.
  const admin = () => createAdminClient({ url, key: options.key ?? readKey(config), retries: 2 });
  return { url, admin };
}

/** The internal address, if there is one: it serves everything that commands ask for. */
function urlOf(config: Config): string {
  const internal = internalAddressOf(config);
  const { hostname, port } = internal ?? publicAddressOf(config);
  if (port === 0) {
    const name = internal === undefined ? "HERALD_PORT" : "HERALD_ADMIN_PORT";
    throw new CliError(exitCodes.usage, `${name} is 0, so the server picks a free port. Give its address with --url.`);
  }
  const scheme = config.HERALD_TLS_CERT === undefined ? "http" : "https";
  const host = hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
  return reachableUrl(`${scheme}://${host}:${port}`);
}

/** The address for reaching a server. Replaces the wildcard addresses `0.0.0.0` and `::`, and leaves others unchanged. */
export function reachableUrl(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const host = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" }[hostname] ?? hostname;
  return `${protocol}//${host}${port === "" ? "" : `:${port}`}`;
}

function checkUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (
    parsed !== undefined &&
    ["http:", "https:"].includes(parsed.protocol) &&
    parsed.search + parsed.hash + parsed.username === ""
  ) {
    return url;
  }
  throw new CliError(exitCodes.usage, `--url ${url} is not a server address. Give one such as http://127.0.0.1:7070.`);
}

function readKey(config: Config): string {
  if (config.HERALD_ADMIN_API_KEY !== undefined) return config.HERALD_ADMIN_API_KEY;
  const file = resolve(config.HERALD_DATA_DIR, keyFile);
  let key: string;
  try {
    key = readFileSync(file, "utf8").trim();
  } catch (error) {
    const reason =
      error instanceof Error && "code" in error && error.code === "ENOENT" ? "does not exist" : "cannot be read";
    throw new CliError(
      exitCodes.usage,
      `no admin API key found: HERALD_ADMIN_API_KEY is not set, and ${file} ${reason}.\n` +
        "Run the command in the server's working folder or set HERALD_DATA_DIR, or give the key with --key or HERALD_ADMIN_API_KEY.",
    );
  }
  if (key === "")
    throw new CliError(exitCodes.usage, `${file} is empty. Give the key with --key or HERALD_ADMIN_API_KEY.`);
  return key;
}
