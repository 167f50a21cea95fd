import type { AdminClient } from "../../../sdk/admin/admin.ts";
import type { DirectoryEntry } from "../../../sdk/types.ts";
import { mostOthers, nameOf } from "../organizations.ts";
import { routeTo } from "../route.ts";
import { listSource, readOnce } from "./list-source.ts";
import type { Hit } from "./match.ts";
import { ifAny, messageHit, mostKept, type Source } from "./source.ts";
import { isUuid } from "./typed.ts";

const mostOfEach = 3;

/** Creates the sources of results outside the selected organization: the organizations themselves, and what some others hold. */
export function organizationSources(client: AdminClient, org: string): Source[] {
  const read = readOnce(() => client.listOrganizations({ limit: mostKept }));
  const others = async () => (await read()).items.filter(({ id }) => id !== org).slice(0, mostOthers);
  return [
    listSource({
      ...{ kind: "organization", scope: "directory:read", isOfOrganization: false },
      read,
      show: ({ id, name }) => ({
        names: [name],
        title: name ?? id,
        note: name === null ? undefined : id,
        href: routeTo("overview", undefined, { org: id }),
      }),
    }),
    directoryOfOthers(client, others),
    messagesOfOthers(client, others),
  ];
}

type Others = () => Promise<DirectoryEntry[]>;

function directoryOfOthers(client: AdminClient, others: Others): Source {
  return {
    ...{ kind: "elsewhere", scope: "directory:read", isOfOrganization: false },
    async find({ text: prefix }, signal) {
      const found = await Promise.all(
        (await others()).map(async (organization) => {
          const query = { prefix, limit: mostOfEach };
          const [users, conversations] = await Promise.all([
            client.listUsers(organization.id, query, { signal }),
            client.listConversations(organization.id, query, { signal }),
          ]);
          return [
            ...users.items.map((user) => hitOf("user", user, organization)),
            ...conversations.items.map((conversation) => hitOf("conversation", conversation, organization)),
          ];
        }),
      );
      return found.flat();
    },
  };
}

function hitOf(noun: "user" | "conversation", { id, name }: DirectoryEntry, organization: DirectoryEntry): Hit {
  const place = `${noun} in ${nameOf(organization)}`;
  return {
    kind: "elsewhere",
    id: JSON.stringify([noun, organization.id, id]),
    title: name ?? id,
    note: name === null ? place : `${id} · ${place}`,
    rank: 4, // after all of the selected organization
    href: routeTo(`${noun}s`, id, { org: organization.id }),
  };
}

/** Each look is a read of history, which the audit log keeps: one organization after the other, until it is found. */
function messagesOfOthers(client: AdminClient, others: Others): Source {
  return {
    ...{ kind: "message", scope: "history:read", isOfOrganization: false, isLast: true },
    async find({ text: id }, signal) {
      if (!isUuid(id)) return [];
      for (const organization of await others()) {
        const report = await ifAny(client.getMessage(organization.id, id, { signal }));
        if (report === undefined) continue;
        const href = routeTo("messages", id, { org: organization.id });
        return [{ ...messageHit(id, report), note: `in ${nameOf(organization)}`, href }];
      }
      return [];
    },
  };
}
