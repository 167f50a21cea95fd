import type { Connection } from "../connections/connection.ts";
import { type Audience, createAudience } from "../delivery/audience.ts";
import { conversationTopic } from "./topics.ts";

/** Who hears which conversation on this node. The runtime's own topics carry messages to them, and tell nobody who they are. */
export type Audiences = {
  /** From now on the connection hears the conversation. */
  join(connection: Connection, cid: string): void;
  leave(connection: Connection, cid: string): void;
  /** The connection is gone, and hears nothing any more. */
  leaveAll(connection: Connection): void;
  /** Those who hear a conversation, by its topic. */
  of(topic: string): Audience | undefined;
  /** How many conversations are heard, and how many connections hear any. */
  size(): { conversations: number; connections: number };
};

/** Nobody hears anything. */
export function createAudiences(): Audiences {
  const audiences = new Map<string, Audience>();
  const heardBy = new Map<Connection, Set<Audience>>();

  function remove(audience: Audience, uid: string): void {
    audience.remove(uid);
    if (audience.connections === 0) audiences.delete(conversationTopic(audience.org, audience.cid));
  }

  return {
    join(connection, cid) {
      if (!connection.isOpen) return; // it would never leave
      const { org, uid } = connection;
      const topic = conversationTopic(org, cid);
      connection.subscribe(topic);
      const heard = heardBy.get(connection) ?? new Set();
      heardBy.set(connection, heard);
      const audience = audiences.get(topic) ?? createAudience(org, cid);
      if (heard.has(audience)) return;
      heard.add(audience);
      audiences.set(topic, audience);
      audience.add(uid);
    },
    leave(connection, cid) {
      const topic = conversationTopic(connection.org, cid);
      connection.unsubscribe(topic);
      const audience = audiences.get(topic);
      if (audience !== undefined && heardBy.get(connection)?.delete(audience)) remove(audience, connection.uid);
    },
    leaveAll(connection) {
      for (const audience of heardBy.get(connection) ?? []) remove(audience, connection.uid);
      heardBy.delete(connection);
    },
    of: (topic) => audiences.get(topic),
    size: () => ({ conversations: audiences.size, connections: heardBy.size }),
  };
}
