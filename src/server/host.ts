import { createBroker } from "../bus/broker.ts";
import type { Config } from "../config.ts";
import { openWriterHost } from "../store/sqlite/writer-host.ts";
import type { DatabaseEvents } from "../store/store.ts";
import { databaseFileOf, explainSqlite, prepareDataFolder } from "./database.ts";
import type { FromHost, ToHost } from "./host-link.ts";

/** What workers share that have neither PostgreSQL nor NATS. */
export type Host = Awaited<ReturnType<typeof openHost>>;

/** Opens the embedded database and a broker for several workers. Throws `ConfigError` for what the operator can fix. */
export async function openHost(config: Config, events: Omit<DatabaseEvents, "announce">) {
  prepareDataFolder(config);
  const writer = await openWriterHost(databaseFileOf(config), events).catch((error: unknown) => {
    throw explainSqlite(error, config);
  });
  const broker = createBroker();
  return {
    /** Adds a worker, which hears through `send`. `hear` takes what it tells; `end` forgets it. */
    connect(send: (message: FromHost) => void) {
      const peer = broker.connect(send);
      const writes = writer.connect((report) => send({ writes: report }));
      return {
        hear(message: ToHost): void {
          if ("writes" in message) writes.hear(message.writes);
          else peer.hear(message);
        },
        end(): void {
          peer.end();
          writes.end();
        },
      };
    },
    migrated: writer.migrated,
    close: writer.close,
  };
}
