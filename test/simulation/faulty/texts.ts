import { createSequencer } from "../../../src/gateway/log/sequencer.ts";
import { gatewayParts } from "../../../src/gateway/parts.ts";
import { product } from "../product.ts";
import { withPart, withSequencers, withSequencersThat } from "./parts.ts";

/** Neither the ring nor the memory of recalls keeps a joining connection from what was taken back. */
export const forgetsRecalls = withSequencersThat(() => ({ hasRecalled: () => false }));

/** Frames that wait for slow streams stay. */
export const keepsWaitingFrames = withPart({
  createPlayer: (dependencies) =>
    gatewayParts.createPlayer({
      ...dependencies,
      backlog: { suspect: dependencies.backlog.suspect, withdraw: () => undefined },
    }),
});

/** Edits keep their places, and nobody hears them. */
export const playsNoEdits = withSequencers((options) =>
  createSequencer({
    ...options,
    play: (event) => options.play(event.kind === "edit" ? { ...event, kind: "blank" } : event),
  }),
);

/** Who joins hears of no recall that was played meanwhile. */
export const joinsWithoutRecalls = withSequencersThat((sequencer) => ({
  playedAfter: (offset) => sequencer.playedAfter(offset)?.filter(({ kind }) => kind !== "recall"),
}));

/** `since` gives messages and recalls, but no edits. */
export const replaysNoEdits = {
  ...product,
  createRecovery(options: Parameters<typeof product.createRecovery>[0]) {
    const recovery = product.createRecovery(options);
    return {
      ...recovery,
      async read(...of: Parameters<typeof recovery.read>) {
        const page = await recovery.read(...of);
        const others = page.filter(({ kind }) => kind !== "edit");
        return others.length > 0 ? others : page;
      },
    };
  },
};
