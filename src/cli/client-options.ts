import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type AdminClient, createAdminClient } from "../../sdk/index.ts";
import { type Config, loadConfig } from "../config.ts";
import { CliError, exitCodes } from "./exit-codes.ts";

/** The options that every command has which talks to a server. */
export type ClientOptions = { url?: string; key?: string; config?: string };

/** A server to talk to. The admin client is made when first asked for, because not every command needs a key. */
export type ServerAccess = { url: string; admin: () => AdminClient };

/** The name of the file in the data folder that holds the key made at first start. */
const keyFile = "admin-api-key";

/** Adds `--url`, `--key` and `--config` to a command. */
export function addClientOptions(command: Command): Command {
  return command
    .option("--url <url>", "address of the server (default: from HERALD_HOST and HERALD_PORT, http://127.0.0.1:7070)")
    .option(
      "--key <key>",
      "admin API key (default: HERALD_ADMIN_API_KEY, else the file <HERALD_DATA_DIR>/admin-api-key); others on this machine can see it in the list of processes",
    )
    .option("--config <file>", "settings file, the same as for `herald serve`");
}

/** Works out which server a command talks to. Throws `CliError` with what to do when the options do not tell. */
export function accessServer(options: ClientOptions): ServerAccess {
  const config = loadConfig(process.env, options.config);
  const url = options.url === undefined ? urlOf(config) : checkUrl(options.url);
  // Two retries: a person waits for less than a second, and a restart of the server is not yet an error.
  const admin = () => createAdminClient({ url, key: options.key ?? readKey(config), retries: 2 });
  return { url, admin };
}

function urlOf({ HERALD_HOST: host, HERALD_PORT: port, HERALD_TLS_CERT: certificate }: Config): string {
  if (port === 0)
    throw new CliError(exitCodes.usage, "HERALD_PORT is 0, which picks a free port; name the address by --url.");
  const scheme = certificate === undefined ? "http" : "https";
  return reachableUrl(`${scheme}://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`);
}

/** The address to reach a server at that listens on all addresses (`0.0.0.0`, `::`); others stay as they are. */
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
  throw new CliError(
    exitCodes.usage,
    `--url ${url} is not the address of a server; write for example http://127.0.0.1:7070.`,
  );
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
      `there is no admin API key: HERALD_ADMIN_API_KEY is not set and ${file} ${reason}.\n` +
        "Run this where the server keeps its data (or set HERALD_DATA_DIR), or give the key by --key or HERALD_ADMIN_API_KEY.",
    );
  }
  if (key === "")
    throw new CliError(exitCodes.usage, `${file} is empty; give the key by --key or HERALD_ADMIN_API_KEY.`);
  return key;
}
