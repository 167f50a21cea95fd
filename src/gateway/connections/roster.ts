import type { PresenceAnswer } from "../../bus/bus.ts";
import type { OnlineUser } from "../../contract/presence.ts";
import { createSortedTexts, type SortedTexts } from "../../lib/text/sorted-texts.ts";
import type { Connection } from "./connection.ts";

/** The joined connections of this node, by organization and user. */
export type Roster = {
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** All connections of one user. */
  of(org: string, uid: string): Connection[];
  /** The connections of these users, read lazily: the roster must not change during the iteration. */
  ofAll(org: string, uids: Iterable<string>): Iterable<Connection>;
  /** The number of connections of one user. */
  countOf(org: string, uid: string): number;
  /** All connections of an organization. */
  ofOrganization(org: string): Connection[];
};

/** Counts over a roster. */
export type Census = {
  /**
   * The users of an organization whose id is greater than `after`, in order of id. The roster must not change during
   * the iteration.
   */
  usersAfter(org: string, after: string): Iterable<OnlineUser>;
  /** The number of users of an organization and of their connections. */
  totalOf(org: string): PresenceAnswer["total"];
  /** The number of connections, and of organizations that have any. */
  size(): { organizations: number; connections: number };
};

type Organization = { users: Map<string, Set<Connection>>; uids: SortedTexts; connections: number };

/** The callbacks of a roster. */
export type RosterEvents = {
  /** Called with each connection that is removed. */
  onLeave(connection: Connection): void;
  /** Called when the first connection of a user is added, and when the last is removed. */
  onUser(org: string, uid: string, isConnected: boolean): void;
};

const toNobody: RosterEvents = { onLeave: () => undefined, onUser: () => undefined };

/** Creates an empty roster. */
export function createRoster({ onLeave, onUser } = toNobody): Roster & Census {
  const organizations = new Map<string, Organization>();
  let size = 0;

  function connectionsOf(org: string, uid: string): Set<Connection> | undefined {
    return organizations.get(org)?.users.get(uid);
  }

  return {
    add(connection) {
      const { org, uid } = connection;
      let organization = organizations.get(org);
      if (organization === undefined) {
        organization = { users: new Map(), uids: createSortedTexts(), connections: 0 };
        organizations.set(org, organization);
      }
      let connections = organization.users.get(uid);
      if (connections === undefined) {
        connections = new Set();
        organization.users.set(uid, connections);
        organization.uids.add(uid);
      }
      if (connections.has(connection)) return;
      connections.add(connection);
      organization.connections++;
      size++;
      if (connections.size === 1) onUser(org, uid, true);
    },
    remove(connection) {
      const { org, uid } = connection;
      const organization = organizations.get(org);
      const connections = organization?.users.get(uid);
      if (organization === undefined || connections?.delete(connection) !== true) return;
      organization.connections--;
      size--;
      if (connections.size === 0) {
        organization.users.delete(uid);
        organization.uids.remove(uid);
      }
      if (organization.users.size === 0) organizations.delete(org);
      onLeave(connection);
      if (connections.size === 0) onUser(org, uid, false);
    },
    of: (org, uid) => [...(connectionsOf(org, uid) ?? [])],
    *ofAll(org, uids) {
      for (const uid of uids) yield* connectionsOf(org, uid) ?? [];
    },
    countOf: (org, uid) => connectionsOf(org, uid)?.size ?? 0,
    ofOrganization: (org) =>
      [...(organizations.get(org)?.users.values() ?? [])].flatMap((connections) => [...connections]),
    *usersAfter(org, after) {
      const organization = organizations.get(org);
      for (const id of organization?.uids.after(after) ?? [])
        yield { id, connections: connectionsOf(org, id)?.size ?? 0 };
    },
    totalOf(org) {
      const { users, connections = 0 } = organizations.get(org) ?? {};
      return { users: users?.size ?? 0, connections };
    },
    size: () => ({ organizations: organizations.size, connections: size }),
  };
}
