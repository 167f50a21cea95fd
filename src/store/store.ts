import type { LogEvent } from "../contract/log-event.ts";
import { createConversations } from "./conversations.ts";
import type { Driver } from "./driver.ts";
import { createHistory, createMissedMessages } from "./history.ts";
import { createLogReader } from "./log-reader.ts";
import { createLogWriter } from "./log-writer.ts";
import { createOrganizations } from "./organizations.ts";
import { createParticipants, createStanding } from "./participants.ts";
import { createSendLog } from "./send-log.ts";
import { createUsers } from "./users.ts";

type Options = {
  driver: Driver;
  /** Called after each commit with its events, in offset order. */
  announce(events: LogEvent[]): void;
  /** How many sends one commit takes at most. */
  batchSize?: number;
};

/** Every port of the store over one database whose schema is up to date. */
export function createStore({ driver, announce, batchSize }: Options) {
  const writer = createLogWriter({ driver, announce });
  return {
    sends: createSendLog({ writer, ...(batchSize !== undefined && { batchSize }) }),
    log: createLogReader({ driver }),
    history: createHistory({ driver }),
    missed: createMissedMessages({ driver }),
    organizations: createOrganizations({ driver, writer }),
    users: createUsers({ driver, writer }),
    conversations: createConversations({ driver, writer }),
    participants: createParticipants({ driver, writer }),
    standing: createStanding({ driver }),
  };
}
