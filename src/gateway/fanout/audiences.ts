import type { Connection } from "../connections/connection.ts";
import { type Audience, createAudience } from "../delivery/audience.ts";
import { conversationTopic } from "./topics.ts";

/** The listeners of each conversation on this node. Bun's native topics deliver to them but cannot list them. */
export type Audiences = {
  /** Subscribes the connection to the conversation. */
  join(connection: Connection, cid: string): void;
  leave(connection: Connection, cid: string): void;
  /** Removes a connection that is gone from every conversation. */
  leaveAll(connection: Connection): void;
  /** The listeners of a conversation, by its topic. */
  of(topic: string): Audience | undefined;
  /** The number of conversations with listeners, and of connections that listen to any. */
  size(): { conversations: number; connections: number };
};

/** Creates empty audiences. */
export function createAudiences(): Audiences {
  const audiences = new Map<string, Audience>();
  const heardBy = new Map<Connection, Set<Audience>>();

  function remove(audience: Audience, uid: string): void {
    audience.remove(uid);
    if (audience.connections === 0) audiences.delete(conversationTopic(audience.org, audience.cid));
  }

  return {
    join(connection, cid) {
      if (!connection.isOpen) return; // a closed connection would never leave
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
