import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { CliError, exitCodes } from "../exit-codes.ts";

const profileSchema = z.strictObject({ url: z.url({ protocol: /^https?$/ }), key: z.string().min(1) });
const fileSchema = z.strictObject({
  current: z.string().nullable(),
  profiles: z.record(z.string(), profileSchema),
});

/** A server's address and the key to call it with. */
export type Profile = z.infer<typeof profileSchema>;

/** All profiles, by name. `current` is the one that commands use unless they are told otherwise. */
export type Profiles = z.infer<typeof fileSchema>;

/** The name of a profile if none is given. */
export const defaultProfile = "default";

/** Which permissions of a file let others read or change it. */
const others = 0o077;

/** Returns a name that a profile may have. Throws a `CliError` for others. */
export function checkProfileName(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return name;
  throw new CliError(
    exitCodes.usage,
    `${JSON.stringify(name)} cannot be the name of a profile. Use up to 64 letters, digits, dots, dashes and underscores.`,
  );
}

/** The file that holds the profiles: `$XDG_CONFIG_HOME/herald/profiles.json`. On Windows, in `%APPDATA%`. */
export function profilesFile(): string {
  const { XDG_CONFIG_HOME: xdg = "", APPDATA: appData = "" } = process.env;
  const fallback = process.platform === "win32" && appData !== "" ? appData : join(homedir(), ".config");
  return join(xdg === "" ? fallback : xdg, "herald", "profiles.json");
}

/** Reads the profiles; there are none without a file. Throws a `CliError` if others can read the file, or if it is damaged. */
export function readProfiles(): Profiles {
  const file = profilesFile();
  const text = readPrivate(file);
  if (text === undefined) return { current: null, profiles: {} };
  const parsed = fileSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue === undefined || issue.path.length === 0 ? "" : `: ${issue.path.join(".")}: ${issue.message}`;
  throw new CliError(
    exitCodes.usage,
    `${file} is not a file of profiles${place}.\nCorrect it, or delete it and log in again with \`herald login\`.`,
  );
}

/** Replaces the file in one step. Only its owner can read it. */
export function writeProfiles(profiles: Profiles): void {
  const file = profilesFile();
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(temporary, { force: true });
    writeFileSync(temporary, `${JSON.stringify(profiles, undefined, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new CliError(exitCodes.failed, `${file} cannot be written: ${reasonOf(error)}`);
  }
}

/** Finds a profile by its name. Throws a `CliError` that lists those that exist. */
export function findProfile({ profiles }: Profiles, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const names = Object.keys(profiles);
  const existing = names.length === 0 ? "There are no profiles yet." : `There are: ${names.join(", ")}.`;
  throw new CliError(
    exitCodes.usage,
    `there is no profile ${name}. ${existing}\nCreate it with \`herald login --profile ${name} --url …\`.`,
  );
}

/** The text of a file that only its owner can read, or `undefined` if there is none. */
function readPrivate(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const isPrivate = process.platform === "win32" || (fstatSync(descriptor).mode & others) === 0;
    if (isPrivate) return readFileSync(descriptor, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new CliError(exitCodes.usage, `${file} cannot be read: ${reasonOf(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  throw new CliError(
    exitCodes.usage,
    `${file} contains API keys, but other users of this machine may read or change it, so it is not used.\nRun \`chmod 600 ${file}\`, and rotate the keys if somebody may have read them.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
