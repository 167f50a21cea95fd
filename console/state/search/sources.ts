import type { AdminClient } from "../../../sdk/admin/admin.ts";
import { HeraldApiError } from "../../../sdk/errors.ts";
import type { Console } from "../context.ts";
import { listSource } from "./list-source.ts";
import { type Hit, offered, rankOf } from "./match.ts";
import { organizationSources } from "./organizations.ts";
import { ifAny, messageHit, mostKept, type Source } from "./source.ts";
import { isUuid } from "./typed.ts";

type Dependencies = Pick<Console, "client" | "link"> & {
  /** The selected organization. */
  org: string | undefined;
  /** Whether the key is not bound to one organization. */
  seesOthers: boolean;
};

const mostOfList = 6;

/** Creates the sources of results that the server knows. Lists of keys and webhooks are read once, when they are first needed. */
export function createSources({ client, org = "", link, seesOthers }: Dependencies): Source[] {
  return [
    ...directorySources(client, org, link),
    ...messageSources(client, org, link),
    ...plannedSources(client, org, link),
    keySource(client, link),
    webhookSource(client, org, link),
    ...(seesOthers ? organizationSources(client, org) : []),
  ];
}

type Link = Dependencies["link"];

function directorySources(client: AdminClient, org: string, link: Link): Source[] {
  const common = { scope: "directory:read", isOfOrganization: true } as const;
  const hitsOf = (
    kind: "user" | "conversation",
    items: readonly { id: string; name: string | null }[],
    text: string,
  ): Hit[] =>
    items.map(({ id, name }) => ({
      kind,
      id,
      title: name ?? id,
      note: name === null ? undefined : id,
      rank: rankOf(text, { id, names: [name] }) ?? 3, // the server compares by rules of its own
      href: link(`${kind}s`, id),
    }));
  return [
    {
      ...common,
      kind: "user",
      async find({ text: prefix }, signal) {
        const { items } = await client.listUsers(org, { prefix, limit: mostOfList }, { signal });
        return hitsOf("user", items, prefix);
      },
    },
    {
      ...common,
      kind: "conversation",
      async find({ text: prefix }, signal) {
        const { items } = await client.listConversations(org, { prefix, limit: mostOfList }, { signal });
        return hitsOf("conversation", items, prefix);
      },
    },
  ];
}

/** Messages are looked for by their whole id only: each look is a read of history, which the audit log keeps. */
function messageSources(client: AdminClient, org: string, link: Link): Source[] {
  const common = { scope: "history:read", isOfOrganization: true } as const;
  return [
    {
      ...common,
      kind: "message",
      async find({ text: id }, signal) {
        if (!isUuid(id)) return []; // the server made the ids of all messages
        const report = await ifAny(client.getMessage(org, id, { signal }));
        if (report === undefined) return [];
        const { from, cid } = report.message;
        return [{ ...messageHit(id, report), note: `${from} → ${cid}`, href: link("messages", id) }];
      },
    },
    {
      ...common,
      kind: "system_message",
      async find({ text: id, isWhole }, signal) {
        const hit = { kind: "system_message", id, title: id } as const;
        const href = link("system-messages", id);
        if (!isWhole) return [{ ...hit, note: "open the one with this id, if there is one", rank: offered, href }];
        const from = await senderOf(client, org, id, signal);
        if (from === undefined) return [];
        if (from === null) return [{ ...hit, note: "of several senders", rank: 0, href }];
        return [{ ...hit, note: `from ${from}`, rank: 0, href: link("system-messages", id, { from }) }];
      },
    },
  ];
}

/** Scheduled sends and proposals, by their whole ids. What was sent leads to its message. */
function plannedSources(client: AdminClient, org: string, link: Link): Source[] {
  const common = { scope: "history:read", isOfOrganization: true } as const;
  const hitsOf = (
    kind: "scheduled" | "proposal",
    planned: { id: string; state: string; server_mid: string | null } | undefined,
  ): Hit[] => {
    if (planned === undefined) return [];
    const { id, state, server_mid: sent } = planned;
    const href = sent === null ? link(kind === "scheduled" ? "scheduled" : "proposals") : link("messages", sent);
    return [{ kind, id, title: id, note: state, rank: 0, href }];
  };
  return [
    {
      ...common,
      kind: "scheduled",
      find: async ({ text: id, isWhole }, signal) =>
        isWhole ? hitsOf("scheduled", await ifAny(client.getScheduled(org, id, { signal }))) : [],
    },
    {
      ...common,
      kind: "proposal",
      find: async ({ text: id, isWhole }, signal) =>
        isWhole ? hitsOf("proposal", await ifAny(client.getProposal(org, id, { signal }))) : [],
    },
  ];
}

/** The sender of the system message with this id: `undefined` if there is none, `null` if several senders used the id. */
async function senderOf(
  client: AdminClient,
  org: string,
  id: string,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  try {
    const report = await ifAny(client.getSystemMessage(org, id, {}, { signal }));
    return report?.system_message.from;
  } catch (error) {
    if (error instanceof HeraldApiError && error.status === 422) return null;
    throw error;
  }
}

function keySource(client: AdminClient, link: Link): Source {
  return listSource({
    ...{ kind: "key", scope: "keys:manage", isOfOrganization: false },
    read: () => client.listKeys({ limit: mostKept }),
    show: ({ id, name }) => ({ names: [name], title: name, note: id, href: link("keys", id) }),
  });
}

function webhookSource(client: AdminClient, org: string, link: Link): Source {
  return listSource({
    ...{ kind: "webhook", scope: "webhooks:manage", isOfOrganization: true },
    read: () => client.listWebhooks(org, { limit: mostKept }),
    show: ({ id, url }) => ({
      names: [url, url.replace(/^https?:\/\//, "")],
      ...{ title: id, note: url, href: link("webhooks", id) },
    }),
  });
}
