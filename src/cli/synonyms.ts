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
};

/** Words for what is done, and the commands that do it: a group has one of them. Only one that changes nothing else may stand for another. */
const verbs: readonly { words: readonly string[]; commands: readonly string[] }[] = [
  { words: ["create", "add", "new", "put"], commands: ["put", "create", "add", "upload"] },
  { words: ["set", "update", "edit", "change"], commands: ["put"] },
  { words: ["get", "show", "describe", "view", "info"], commands: ["get"] },
  { words: ["list", "ls"], commands: ["list"] },
  { words: ["delete", "del", "remove", "rm", "revoke", "cancel"], commands: ["delete", "remove", "revoke", "cancel"] },
];

/** The same words, in which each that is no command but another word for one is replaced by that. */
export function withKnownWords(program: Command, argv: readonly string[]): string[] {
  let group = program;
  let isOver = false;
  return argv.map((word) => {
    if (isOver || word.startsWith("-")) return word; // groups have no options with values
    const find = (name: string) => group.commands.find((each) => each.name() === name);
    const command =
      find(word) ??
      candidates(word, group === program)
        .map(find)
        .find(Boolean);
    if (command === undefined || command.commands.length === 0) isOver = true;
    if (command === undefined) return word;
    group = command;
    return command.name();
  });
}

function candidates(word: string, isGroup: boolean): readonly string[] {
  if (!isGroup) return verbs.find(({ words }) => words.includes(word))?.commands ?? [];
  return Object.keys(groups).filter((name) => groups[name]?.includes(word));
}
