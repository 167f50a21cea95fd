import { hasOtherOwners } from "./connections.ts";
import {
  withFanout,
  withJoinsOn,
  withJoinsOnOne,
  withReads,
  withSequencerPart,
  withSequencersThat,
  withTurns,
} from "./parts.ts";

/** Where bugs are planted, but without a bug: the replacement behaves like the part. */
export const faultless = {
  "a part of sequencers": withSequencerPart({}),
  "methods of sequencers": withSequencersThat(() => ({})),
  "the reads of sequencers": withReads((read) => (offset, limit) => read(offset, limit)),
  "the sequencers that those who join see": withJoinsOn(() => ({})),
  "one of the sequencers that those who join see": withJoinsOnOne(() => ({})),
  "the owners of what is taken": hasOtherOwners,
  "the writes to sockets": withFanout(() => ({})),
  "the turns of the thread": withTurns((thread) => thread.turn),
};
