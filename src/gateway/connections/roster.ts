import type { PresenceAnswer } from "../../bus/bus.ts";
import type { OnlineUser } from "../../contract/presence.ts";
import { createId } from "../../lib/text/ids.ts";
import { createSortedTexts, type SortedTexts } from "../../lib/text/sorted-texts.ts";
import type { Connection } from "./connection.ts";

type Organization = {
  users: Map<string, Set<Connection>>;
  uids: SortedTexts;
  connections: number;
  /** Another number after each user who comes or goes. */
  version: number;
};

/** The callbacks of a roster. */
type Events = {
  /** Called with each connection that is removed. */
  onLeave(connection: Connection): void;
  /** Called when the first connection of a user is added, and when the last is removed. */
  onUser(org: string, uid: string, isConnected: boolean): void;
};

/** Creates an empty roster of connections, by organization and user. */
export function createRoster({ onLeave, onUser }: Partial<Events> = {}) {
  const organizations = new Map<string, Organization>();
  const epoch = createId();
  let size = 0;
  let changes = 0;

  function connectionsOf(org: string, uid: string): Set<Connection> | undefined {
    return organizations.get(org)?.users.get(uid);
  }

  return {
    add(connection: Connection): void {
      const { org, uid } = connection;
      let organization = organizations.get(org);
      if (organization === undefined) {
        organization = { users: new Map(), uids: createSortedTexts(), connections: 0, version: 0 };
        organizations.set(org, organization);
      }
      let connections = organization.users.get(uid);
      if (connections === undefined) {
        connections = new Set();
        organization.users.set(uid, connections);
        organization.uids.add(uid);
        organization.version = ++changes;
      }
      if (connections.has(connection)) return;
      connections.add(connection);
      organization.connections++;
      size++;
      if (connections.size === 1) onUser?.(org, uid, true);
    },
    remove(connection: Connection): void {
      const { org, uid } = connection;
      const organization = organizations.get(org);
      const connections = organization?.users.get(uid);
      if (organization === undefined || connections?.delete(connection) !== true) return;
      organization.connections--;
      size--;
      if (connections.size === 0) {
        organization.users.delete(uid);
        organization.uids.remove(uid);
        organization.version = ++changes;
      }
      if (organization.users.size === 0) organizations.delete(org);
      onLeave?.(connection);
      if (connections.size === 0) onUser?.(org, uid, false);
    },
    /** All connections of one user. */
    of: (org: string, uid: string): Connection[] => [...(connectionsOf(org, uid) ?? [])],
    /** The connections of these users, read lazily: the roster must not change during the iteration. */
    *ofAll(org: string, uids: Iterable<string>): Generator<Connection, void> {
      for (const uid of uids) yield* connectionsOf(org, uid) ?? [];
    },
    /** The number of connections of one user. */
    countOf: (org: string, uid: string): number => connectionsOf(org, uid)?.size ?? 0,
    /** All connections of an organization. */
    ofOrganization: (org: string): Connection[] =>
      [...(organizations.get(org)?.users.values() ?? [])].flatMap((connections) => [...connections]),
    /**
     * The users of an organization whose id is greater than `after`, in order of id. The roster must not change during
     * the iteration.
     */
    *usersAfter(org: string, after: string): Generator<OnlineUser, void> {
      const organization = organizations.get(org);
      for (const id of organization?.uids.after(after) ?? [])
        yield { id, connections: connectionsOf(org, id)?.size ?? 0 };
    },
    /** The number of users of an organization and of their connections. */
    totalOf(org: string): PresenceAnswer["total"] {
      const { users, connections = 0 } = organizations.get(org) ?? {};
      return { users: users?.size ?? 0, connections };
    },
    /** A text that is another one whenever the users of the organization have changed, and on each node. */
    versionOf: (org: string): string => `${epoch}:${organizations.get(org)?.version ?? 0}`,
    /** The number of connections, and of organizations that have any. */
    size: (): { organizations: number; connections: number } => ({
      organizations: organizations.size,
      connections: size,
    }),
  };
}

/** The connections of one node, by organization and user. */
export type Roster = ReturnType<typeof createRoster>;
