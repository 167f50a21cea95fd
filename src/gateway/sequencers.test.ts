import { expect, test } from "bun:test";
import { createLocalBus } from "../bus/local.ts";
import type { LogEvent } from "../contract/log-event.ts";
import { systemClock } from "../lib/clock.ts";
import { createSequencers } from "./sequencers.ts";

test("an organization that does not get to start keeps no other from hearing what no hint told", async () => {
  const event: LogEvent = { org: "b", offset: 1, kind: "message", id: "e", cid: "c", payload: "{}", uids: undefined };
  const played = Promise.withResolvers<LogEvent>();
  let head = 0;
  const sequencers = createSequencers({
    bus: createLocalBus({ nodeId: "n" }),
    log: {
      heads(orgs) {
        if (orgs.join() === "a") return new Promise(() => undefined);
        return Promise.resolve(new Map(orgs.map((org) => [org, head])));
      },
      readAfter: async () => [event],
    },
    play(heard) {
      played.resolve(heard);
      return false;
    },
    clock: systemClock,
    onRepair: () => undefined,
    onError: played.reject,
  });
  void sequencers.acquire("a");
  await sequencers.acquire("b");
  head = 1;
  await sequencers.checkHeads();
  expect(await played.promise).toEqual(event);
  sequencers.stop();
});
