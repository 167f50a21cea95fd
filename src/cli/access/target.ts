import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readSecret } from "../../../sdk/secrets.ts";
import { type Config, internalAddressOf, loadConfig, publicAddressOf } from "../../config.ts";
import { localUrlOf } from "../../server/local-url.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import { findProfile, type Profile, readProfiles } from "./profiles.ts";

/** The options that say which server a command calls, and with which key. */
export type TargetOptions = { url?: string; key?: string; profile?: string; config?: string };

/** A key, and where it comes from, in words. `keyProfile` is the profile, if it comes from one. */
export type FoundKey = { key: string; keyFrom: string; keyProfile?: string };

/**
 * The server that a command calls, and where its address comes from, in words. `findKey` throws a `CliError` that says what to do
 * if there is no key.
 */
export type FoundTarget = { url: string; urlFrom: string; findKey: () => FoundKey };

/** A target without the key itself, for messages. */
export type Target = Omit<FoundTarget, "findKey"> & Omit<FoundKey, "key">;

type Sources = { options: TargetOptions; config: Config };

/** What the environment tells commands, and only them, about the server to call. Empty variables count as not set. */
export function readClientEnvironment() {
  const { HERALD_PROFILE: profile = "", HERALD_URL: url = "" } = process.env;
  return { ...(profile !== "" && { profile }), ...(url !== "" && { url }) };
}

/** The file in the data folder that holds the key generated at the first start. */
const keyFile = "admin-api-key";

/** The settings that describe a server on this machine. One of them in the environment is preferred to the current profile. */
const serverSettings = [
  "HERALD_HOST",
  "HERALD_PORT",
  "HERALD_ADMIN_HOST",
  "HERALD_ADMIN_PORT",
  "HERALD_ADMIN_API_KEY",
  "HERALD_DATA_DIR",
];

/**
 * Finds the server to call: by the options, then the environment, then the current profile, then the settings of a server on this
 * machine. The key of a profile only ever goes to the address of that profile.
 */
export function findTarget(options: TargetOptions): FoundTarget {
  const sources = { options, config: loadConfig(process.env, options.config) };
  const client = readClientEnvironment();
  if (options.profile !== undefined) return targetOfProfile(options.profile, sources);
  if (options.url !== undefined) return targetOfUrl(options.url, "--url", sources);
  if (client.profile !== undefined) return targetOfProfile(client.profile, sources);
  if (client.url !== undefined) return targetOfUrl(client.url, "HERALD_URL", sources);
  const isLocal = options.config !== undefined || serverSettings.some((name) => process.env[name] !== undefined);
  const current = isLocal ? null : readProfiles().current;
  if (current !== null) return targetOfProfile(current, sources);
  const findKey = () => optionKey(options) ?? findLocalKey(sources);
  return { url: urlOf(sources.config), urlFrom: "the settings", findKey };
}

/** The `keyFrom` of a key that the user has just entered. */
export const enteredKey = "your input";

/** An address without its key: by the option, then that of the profile, then by the environment and the settings. */
export function findAddress(
  { url, config }: Pick<TargetOptions, "url" | "config">,
  profile?: Profile,
): { url: string; urlFrom: string } {
  if (url !== undefined) return { url: checkUrl(url, "--url"), urlFrom: "--url" };
  if (profile !== undefined) return { url: profile.url, urlFrom: "the profile" };
  const { url: given } = readClientEnvironment();
  if (given !== undefined) return { url: checkUrl(given, "HERALD_URL"), urlFrom: "HERALD_URL" };
  return { url: urlOf(loadConfig(process.env, config)), urlFrom: "the settings" };
}

/** Whether an address is one of this machine, and of no other. */
export function isOnThisMachine(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

function targetOfProfile(name: string, { options }: Sources): FoundTarget {
  const profile = findProfile(readProfiles(), name);
  const url = options.url === undefined ? profile.url : checkUrl(options.url, "--url");
  const findKey = () => {
    const key = optionKey(options);
    if (key !== undefined) return key;
    if (isSameServer(url, profile.url)) return keyOf(name, profile);
    throw new CliError(
      exitCodes.usage,
      `profile ${name} is for ${profile.url}, and its key is not sent to ${url}.\nOmit --url or --profile, or give a key with --key.`,
    );
  };
  return { url, urlFrom: options.url === undefined ? `profile ${name}` : "--url", findKey };
}

/** Without a key for the address, takes that of a profile with the same address, or that of the server on this machine. */
function targetOfUrl(given: string, urlFrom: string, sources: Sources): FoundTarget {
  const url = checkUrl(given, urlFrom);
  const hasOwnKey = sources.config.HERALD_ADMIN_API_KEY !== undefined;
  const findProfileKey = () => (hasOwnKey ? undefined : profileKeyFor(url));
  return { url, urlFrom, findKey: () => optionKey(sources.options) ?? findProfileKey() ?? findLocalKey(sources) };
}

function optionKey({ key }: TargetOptions): FoundKey | undefined {
  return key === undefined ? undefined : { key: checkSecret(key, "the key from --key"), keyFrom: "--key" };
}

/** A key or a token as it is sent. Throws a `CliError` that does not repeat it, and says where it comes from. */
export function checkSecret(value: string, what: string): string {
  try {
    return readSecret(value, what);
  } catch (error) {
    throw new CliError(exitCodes.usage, error instanceof Error ? error.message : String(error));
  }
}

function keyOf(name: string, { key }: Profile): FoundKey {
  const keyFrom = `profile ${name}`;
  return { key: checkSecret(key, `the key from ${keyFrom}`), keyFrom, keyProfile: name };
}

/** The key of a profile with this address, preferably the current one. */
function profileKeyFor(url: string): FoundKey | undefined {
  const { current, profiles } = readProfiles();
  const same = Object.entries(profiles).filter(([, profile]) => isSameServer(url, profile.url));
  const chosen = same.find(([name]) => name === current) ?? same[0];
  return chosen === undefined ? undefined : keyOf(...chosen);
}

function isSameServer(one: string, other: string): boolean {
  return normalizeUrl(one) === normalizeUrl(other);
}

function normalizeUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

/** The internal address, if there is one: it serves everything that commands ask for. */
function urlOf(config: Config): string {
  const internal = internalAddressOf(config);
  const address = internal ?? publicAddressOf(config);
  if (address.port === 0) {
    const name = internal === undefined ? "HERALD_PORT" : "HERALD_ADMIN_PORT";
    throw new CliError(exitCodes.usage, `${name} is 0, so the server picks a free port. Give its address with --url.`);
  }
  return localUrlOf(config, address);
}

function checkUrl(url: string, from: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (
    parsed !== undefined &&
    ["http:", "https:"].includes(parsed.protocol) &&
    parsed.search + parsed.hash + parsed.username === ""
  ) {
    return url;
  }
  const isSafe = !/[@?#]|hk_/.test(url); // neither a password nor a key in the wrong place
  const example = isSafe && /^[\w.-]+(:\d+)?$/.test(url) ? `http://${url}` : "http://127.0.0.1:7070";
  const shown = isSafe ? ` ${url}` : "";
  throw new CliError(exitCodes.usage, `${from}${shown} is not a server address. Give one such as ${example}.`);
}

/** The key of the server on this machine, from the settings or from the file that its first start wrote. */
function findLocalKey({ options, config }: Sources): FoundKey {
  if (config.HERALD_ADMIN_API_KEY !== undefined)
    return { key: config.HERALD_ADMIN_API_KEY, keyFrom: options.config ?? "HERALD_ADMIN_API_KEY" };
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
        "Run the command in the server's working folder or set HERALD_DATA_DIR, or give the key with --key or HERALD_ADMIN_API_KEY, or log in with `herald login`.",
    );
  }
  if (key === "")
    throw new CliError(exitCodes.usage, `${file} is empty. Give the key with --key or HERALD_ADMIN_API_KEY.`);
  return { key: checkSecret(key, `the key in ${file}`), keyFrom: file };
}
