import type { Hint } from "../../../src/bus/bus.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { LogPlace } from "../../../src/contract/log/log-place.ts";
import { logChain } from "../../../src/gateway/log/chain.ts";
import { createSequencer, type Sequencer, sequencerParts } from "../../../src/gateway/log/sequencer.ts";
import { gatewayParts } from "../../../src/gateway/parts.ts";
import { headCheckMs } from "../climate.ts";
import type { Product } from "../product.ts";
import { overriding } from "./overriding.ts";
import { withPart, withReads, withSequencerPart, withSequencers, withSequencersThat } from "./parts.ts";

const isEvent = (hint: Hint): hint is LogEvent => hint.payload !== undefined;
/** Whether an event has the next offset, whatever its predecessor. */
const isNext = ({ offset }: { offset: number }, place: LogPlace) => offset === place.offset + 1;

/** Heads are checked when the bus is back, but not every few seconds. */
export const skipsHeadCheck = withPart({
  createSequencers(options) {
    const sequencers = gatewayParts.createSequencers(options);
    const beganAt = options.clock.now();
    const isBeat = () => (options.clock.now() - beganAt) % headCheckMs === 0;
    return overriding(sequencers, {
      checkHeads: async () => (isBeat() ? undefined : await sequencers.checkHeads()),
    });
  },
});

export const passesOverHoles = withSequencerPart({ chain: { ...logChain, follows: () => true } });

/** What the head check finds missing is not read. */
export const takesHeadForPlayed = withSequencers((options) => {
  let noticed = 0;
  const sequencer = createSequencer({
    ...options,
    async read(offset, limit) {
      const page = await options.read(offset, limit);
      return noticed > offset ? { ...page, events: [] } : page;
    },
  });
  return overriding(sequencer, {
    noticeHead(head) {
      noticed = head.offset;
      sequencer.noticeHead(head);
    },
  });
});

export const playsHintsAgain = withSequencersThat((sequencer, { play }) => ({
  offer(hint) {
    if (isEvent(hint) && hint.offset === sequencer.position) play(hint);
    sequencer.offer(hint);
  },
}));

export const playsReadsAgain = withReads((read, sequencer, { play }) => async (offset, limit) => {
  const page = await read(offset, limit);
  for (const event of page.events) if (event.offset <= sequencer().position) play(event);
  return page;
});

export const dropsEarlyHints = withSequencersThat((sequencer) => {
  let highest = 0;
  return {
    offer(hint) {
      highest = Math.max(highest, sequencer.position);
      if (hint.offset !== undefined && hint.offset > highest + 1) return;
      highest = Math.max(highest, hint.offset ?? 0);
      sequencer.offer(hint);
    },
  };
});

export const ignoresHintsWithoutEvent = hearingOnly((hint) => hint.offset === undefined || isEvent(hint));
export const ignoresNudges = hearingOnly((hint) => hint.offset !== undefined);
export const dropsHintsOfPlayedOffsets = hearingOnly(
  (hint, { position }) => hint.offset === undefined || hint.offset > position,
);

function hearingOnly(isHeard: (hint: Hint, sequencer: Sequencer) => boolean): Product {
  return withSequencersThat((sequencer) => ({
    offer(hint) {
      if (isHeard(hint, sequencer)) sequencer.offer(hint);
    },
  }));
}

/** A failed read counts as one that found nothing new. */
export const swallowsFailedReads = withReads((read) => async (offset, limit) => {
  try {
    return await read(offset, limit);
  } catch {
    return { head: { offset, id: undefined }, anchor: undefined, events: [] };
  }
});

export const keepsNothingForJoins = withSequencersThat(() => ({ playedAfter: () => [] }));

export const forgetsHowFarRingReaches = withSequencersThat((sequencer) => ({
  playedAfter(offset) {
    for (let from = offset; ; from++) {
      const played = sequencer.playedAfter(from);
      if (played !== undefined) return played;
    }
  },
}));

export const playsBurstsAtOnce = withSequencerPart({
  createPace: (onTurn, leave) => ({ ...sequencerParts.createPace(onTurn, leave), allows: () => true }),
});

export const playsHintsOnTheirNumber = withSequencerPart({ chain: { ...logChain, follows: isNext } });
export const playsHeldOnTheirNumber = withSequencerPart({
  createHeld: (budget) => sequencerParts.createHeld(budget, { follows: isNext }),
});
export const readsWithoutLookingBack = withSequencerPart({ chain: { ...logChain, isSameLog: () => true } });

export const checksNoHeadIds = noticingOnly((head, { position }) => head.offset !== position);
export const checksNoHeadsBehind = noticingOnly((head, { position }) => head.offset >= position);

function noticingOnly(isNoticed: (head: LogPlace, sequencer: Sequencer) => boolean): Product {
  return withSequencersThat((sequencer) => ({
    noticeHead(head) {
      if (isNoticed(head, sequencer)) sequencer.noticeHead(head);
    },
  }));
}

/** Pages are not compared with events queued during their read. */
export const comparesNoHintsWithReads = withSequencers((options) => {
  let last = options.start.offset;
  return createSequencer(
    {
      ...options,
      async read(offset, limit) {
        const page = await options.read(offset, limit);
        return { ...page, events: page.events.filter((event) => event.offset > last) };
      },
    },
    {
      ...sequencerParts,
      createHeld(budget) {
        const held = sequencerParts.createHeld(budget);
        return {
          ...held,
          takeNext(place) {
            last = place.offset; // that is the event just queued
            return held.takeNext(place);
          },
        };
      },
    },
  );
});

/** A sequencer that has met the break is still given to joining connections. */
export const keepsSequencersAfterBreak = withPart({
  createSequencers(options) {
    const current = new Map<string, Sequencer>();
    const broken = new Map<string, Sequencer>();
    const given = new Map<Sequencer, number>();
    const sequencers = gatewayParts.createSequencers({
      ...options,
      onBreak(org, found) {
        const sequencer = current.get(org);
        if (sequencer !== undefined) broken.set(org, sequencer);
        options.onBreak(org, found);
      },
    });
    return overriding(sequencers, {
      async acquire(org) {
        const kept = broken.get(org);
        const sequencer = kept ?? (await sequencers.acquire(org));
        if (kept === undefined) current.set(org, sequencer);
        else given.set(kept, (given.get(kept) ?? 0) + 1);
        return sequencer;
      },
      release(sequencer) {
        const count = given.get(sequencer) ?? 0;
        if (count > 0) given.set(sequencer, count - 1);
        else sequencers.release(sequencer);
      },
    });
  },
});

export const keepsConnectionsAfterBreak = withPart({
  createSequencers: (options) => gatewayParts.createSequencers({ ...options, onBreak: () => undefined }),
});
