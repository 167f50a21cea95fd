import type { LogEvent } from "../contract/log/log-event.ts";
import { followBusSecrets } from "../services/nodes/bus-secrets.ts";
import { createStore, type DatabaseEvents } from "../store/store.ts";
import type { NodeBus } from "./bus.ts";
import type { Context } from "./context.ts";
import { databaseTelling, openDatabase, tellMigrated } from "./database.ts";
import { watchDescriptors } from "./observing/errors.ts";
import { createObserver } from "./observing/observer.ts";
import type { Tracing } from "./observing/tracing.ts";

/** The store of a node. */
export type Store = ReturnType<typeof createStore>;

/** What `openStore` returns. */
export type Stored = Awaited<ReturnType<typeof openStore>>;

/** Opens and migrates the database, and the store on it, which publishes its commits. Gives the bus its secrets. */
export async function openStore(context: Context, { bus, takeSecrets }: NodeBus, tracing: Tracing | undefined) {
  const { config, log, clock, databaseClock, guard, later, onStop } = context;
  // Runs after the commit, so an error must not fail an acknowledged send; head checks find unpublished events.
  const publish =
    tracing === undefined ? bus.publish : (events: LogEvent[]) => guard(() => tracing.publish(events, bus.publish));
  const announce = (events: LogEvent[]) => {
    for (const { kind, org, cid, expiresAt } of events) {
      if (expiresAt !== undefined) later.expiry?.expect(expiresAt - databaseClock.now());
      if (kind === "system" && cid === undefined) later.addressing?.expect(org);
    }
    publish(events);
  };
  const events: DatabaseEvents = {
    announce,
    ...databaseTelling(log),
    onReconnect: () => void later.gateway?.onDatabaseBack(),
  };
  const database = await openDatabase(config, events, context);
  onStop(() => database.close());
  const observer = createObserver(context);
  const writeWatch = context.watchWrites(database, observer.lastCommitAt);
  onStop(writeWatch.stop);
  onStop(watchDescriptors(log));
  const followSecrets = followBusSecrets({ ...database, clock, take: takeSecrets });
  await followSecrets();
  tellMigrated(log, database.migrated);
  if (database.advice !== undefined) log.warn(database.advice);
  const commits = observer.observeCommits({ tracing, suspect: writeWatch.suspect });
  const store = createStore({ ...database, announce, observer: commits });
  return { database, store, observer, writeWatch, followSecrets };
}
