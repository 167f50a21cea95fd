import type { LogEvent } from "../../contract/log/log-event.ts";
import { createThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import type { Driver } from "../sql/driver.ts";
import { createStore, createWrites, type Writes } from "../store.ts";

type Announce = (events: LogEvent[]) => void;

/** Creates the writes of a database that has its thread to itself. */
export function createTestWrites(driver: Driver, announce: Announce = () => undefined): Writes {
  return createWrites({ driver, announce, thread: createThreadScheduler() });
}

/** Creates every port of the store on such a database. */
export function createTestStore(driver: Driver, announce: Announce = () => undefined) {
  return createStore({ reader: driver, writes: createTestWrites(driver, announce), announce });
}
