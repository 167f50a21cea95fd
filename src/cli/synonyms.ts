import type { Command } from "commander";

/** Words for groups of commands that people try, by the name of the group. */
const groups: { [name: string]: readonly string[] } = {
  orgs: ["org", "organization", "organizations", "organisation", "organisations"],
  users: ["user"],
  conversations: ["conversation"],
  participants: ["participant", "member", "members"],
  keys: ["key"],
  webhooks: ["webhook"],
  files: ["file"],
  nodes: ["node"],
  profiles: ["profile"],
  recipients: ["recipient"],
  report: ["reports"],
  schedule: ["schedules", "scheduled"],
  proposals: ["proposal"],
};

/** Words for what is done, and the commands that do it: a group has one of them. Only one that changes nothing else may stand for another. */
const verbs: readonly { words: readonly string[]; commands: readonly string[] }[] = [
  { words: ["create", "add", "new", "put"], commands: ["put", "create", "add", "upload"] },
  { words: ["set", "update", "edit", "change"], commands: ["put"] },
  { words: ["get", "show", "describe", "view", "info"], commands: ["get"] },
  { words: ["list", "ls"], commands: ["list"] },
  { words: ["delete", "del", "remove", "rm", "revoke", "cancel"], commands: ["delete", "remove", "revoke", "cancel"] },
];

/**
 * The same words, in which each that is no command but another word for one is replaced by that. They end with the first that should
 * be a command but is none, without options: Commander then reports it, with the nearest name. With the rest, it would print the help
 * of the group if `--help` follows, and exit with 0.
 */
export function withKnownWords(program: Command, argv: readonly string[]): string[] {
  const known: string[] = [];
  let group = program;
  for (const [index, word] of argv.entries()) {
    const isOption = word.startsWith("-"); // groups have no options with values
    const command = isOption ? undefined : findCommand(group, word, group === program);
    known.push(command?.name() ?? word);
    if (isOption) continue;
    if (command === undefined) return known.filter((each) => !each.startsWith("-"));
    if (command.commands.length === 0) return [...known, ...argv.slice(index + 1)];
    group = command;
  }
  return known;
}

function findCommand(group: Command, word: string, isTop: boolean): Command | undefined {
  const names = [word, ...candidates(word, isTop)];
  return names.map((name) => group.commands.find((each) => each.name() === name)).find(Boolean);
}

function candidates(word: string, isGroup: boolean): readonly string[] {
  if (!isGroup) return verbs.find(({ words }) => words.includes(word))?.commands ?? [];
  return Object.keys(groups).filter((name) => groups[name]?.includes(word));
}
