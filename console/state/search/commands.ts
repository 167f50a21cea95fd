import type { Scope } from "../../../src/contract/keys/scopes.ts";
import type { Console } from "../context.ts";
import { basePath } from "../server.ts";
import { type Hit, offered, rankOf } from "./match.ts";

type Command = { title: string; scope?: Scope } & ({ href: string } | { run: () => void });

/** A page that the key may open. */
export type PageName = { name: string; title: string };

type Rights = Pick<Console, "can" | "link" | "me">;

/** What the console can do, for a key with these rights. */
function commandsOf({ can, link, me }: Rights, signOut: () => void): Command[] {
  const form = (noun: string, scope: Scope): Command => ({
    title: `New ${noun}`,
    scope,
    href: link(`${noun}s`, undefined, { new: "1" }),
  });
  const commands: Command[] = [
    { title: "Send a message", scope: "message:send", href: link("compose", undefined, { kind: "message" }) },
    {
      title: "Send a system message",
      scope: "system:send",
      href: link("compose", undefined, { kind: "system_message" }),
    },
    form("user", "directory:write"),
    form("conversation", "directory:write"),
    form("webhook", "webhooks:manage"),
    ...(me.organization === null ? [form("organization", "directory:write")] : []),
    form("key", "keys:manage"),
    { title: "Read the documentation", href: `${basePath}/docs` },
    { title: "Sign out", run: signOut },
  ];
  return commands.filter(({ scope }) => scope === undefined || can(scope));
}

/** The actions and pages that a text finds: all of them, if nothing is typed. */
export function findCommands(text: string, pages: readonly PageName[], rights: Rights, signOut: () => void): Hit[] {
  const actions = commandsOf(rights, signOut).map((command) => ({
    ...command,
    kind: "action" as const,
    id: command.title,
  }));
  const places = pages.map(({ name, title }) => ({ kind: "page" as const, id: name, title, href: rights.link(name) }));
  return [...actions, ...places].flatMap((hit): Hit[] => {
    const rank = text === "" ? offered : rankOf(text, { id: "", names: [hit.title], isFoundByWord: true });
    return rank === undefined ? [] : [{ ...hit, rank }];
  });
}
