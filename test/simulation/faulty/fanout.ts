import { gatewayParts } from "../../../src/gateway/parts.ts";
import { withFanout } from "./parts.ts";

/** What goes to single users is written at once, whatever waits for their sockets. */
export const writesToUsersAtOnce = withFanout(({ publish }, dependencies) => {
  const atOnce = gatewayParts.createSocketTopics({ ...dependencies, sliceUs: Number.POSITIVE_INFINITY });
  return {
    publish: (topic, event, onSlow) =>
      (event.kind === "system" && event.cid === undefined ? atOnce.publish : publish)(topic, event, onSlow),
  };
});

/** A socket that joins is added to the first part, even if something waits for that. */
export const joinsPartsThatWait = withFanout(() => ({
  add: (topic, _, socket) => void socket.subscribe(topic),
}));

/** What waits is written after a change of who hears it. */
export const changesHearingBeforeWhatWaits = withFanout(() => ({ settle: () => undefined }));

/** What waits for the thread waits for ever, unless somebody's hearing changes. */
export const writesNothingThatWaits = withFanout(() => ({ leave: () => undefined }));

/** A burst goes on though a socket was slow to take what waited. */
export const ignoresSlowSockets = withFanout(({ leave }) => ({ leave: (org) => leave(org)?.then(() => false) }));
