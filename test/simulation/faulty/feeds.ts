import { placeIn } from "../../../src/contract/log/log-place.ts";
import { type GatewayParts, gatewayParts } from "../../../src/gateway/parts.ts";
import { type Product, product } from "../product.ts";
import { overriding } from "./overriding.ts";
import { withPart } from "./parts.ts";

type FeedStarts = ReturnType<Product["createFeedStarts"]>;
type Dependencies = Parameters<GatewayParts["createFeeds"]>[0];
type Sequencer = Awaited<ReturnType<Dependencies["sequencers"]["acquire"]>>;

function withStarts(change: (starts: FeedStarts) => Partial<FeedStarts>): Product {
  return {
    ...product,
    createFeedStarts(dependencies) {
      const starts = product.createFeedStarts(dependencies);
      return { ...starts, ...change(starts) };
    },
  };
}

const withFeeds = (change: (dependencies: Dependencies) => Partial<Dependencies>): Product =>
  withPart({ createFeeds: (dependencies) => gatewayParts.createFeeds({ ...dependencies, ...change(dependencies) }) });

/** The product whose feeds ask sequencers something else. */
const withSequencers = (change: (sequencer: Sequencer) => Partial<Sequencer>): Product =>
  withFeeds(({ sequencers }) => {
    const given = new Map<Sequencer, Sequencer>();
    return {
      sequencers: overriding(sequencers, {
        async acquire(org) {
          const sequencer = await sequencers.acquire(org);
          const changed = overriding(sequencer, change(sequencer));
          given.set(changed, sequencer);
          return changed;
        },
        release: (sequencer) => sequencers.release(given.get(sequencer) ?? sequencer),
      }),
    };
  });

export const takesAnyCursor = withStarts(() => ({
  resume: async (_, after) => placeIn(after) ?? { offset: 0, id: "" },
}));

export const beginsOneLater = withStarts(({ resume }) => ({
  async resume(org, after) {
    const { offset } = await resume(org, after);
    return { offset: offset + 1, id: undefined };
  },
}));

export const beginsOneEarlier = withStarts(({ resume }) => ({
  async resume(org, after) {
    const { offset } = await resume(org, after);
    return { offset: Math.max(0, offset - 1), id: undefined };
  },
}));

export const refusesOldCursors = withStarts(({ resume }) => ({
  async resume(org, after) {
    const place = await resume(org, after);
    if (place.offset % 7 === 6) await resume(org, `${place.offset + 1_000_000}-${place.id}`);
    return place;
  },
}));

/** A feed listens at once, and never reads what came before. */
export const listensBeforeItHasRead = withSequencers(() => ({ playedAfter: () => [] }));

/** The memory of a node is taken for all that there is. */
export const takesMemoryForLog = withSequencers((sequencer) => ({
  playedAfter: (offset) => sequencer.playedAfter(offset)?.filter(({ kind }) => kind !== "blank") ?? [],
}));

/** What was recalled after it was read is shown. */
export const showsWhatWasRecalledMeanwhile = withSequencers(() => ({ hasRecalled: () => false }));
