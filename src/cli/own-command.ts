/** The command that runs this Herald again: the binary, or Bun with the script. Arguments follow. */
export const ownCommand: readonly string[] = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, Bun.main];

/** What a person types to run this Herald from the same folder. */
export const typedCommand = Bun.isStandaloneExecutable ? process.argv0 : "npx herald";
