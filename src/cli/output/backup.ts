import type { backUp } from "../../server/backup.ts";

type Facts = Awaited<ReturnType<typeof backUp>>;

const mebibyte = 2 ** 20;

/** What a backup holds, in lines for people. */
export function describeBackup(done: string, { bytes, organizations, messages, schema, files }: Facts): string {
  const size = bytes < mebibyte ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.round(bytes / mebibyte)} MiB`;
  return [
    `${done}: ${size}, schema version ${schema}.`,
    `  organizations  ${organizations}`,
    `  messages       ${messages}`,
    `  secrets        ${files.length === 0 ? "none, as all of them are settings" : files.join(", ")}`,
  ].join("\n");
}
