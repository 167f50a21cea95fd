import { gatewayParts } from "../../../src/gateway/parts.ts";
import { withJoinsOn, withJoinsOnOne, withPart, withRecovery } from "./parts.ts";

export const joinsBeforeSnapshot = withJoinsOnOne(() => ({ reached: async () => undefined }));

export const joinsWithoutPlayedMeanwhile = withJoinsOnOne((sequencer) => ({
  playedAfter: (offset) => sequencer.playedAfter(offset) && [],
}));

/** What went to everyone while a connection joins is left out. */
export const joinsWithoutWhatWentToEveryone = withJoinsOnOne((sequencer) => ({
  playedAfter: (offset) =>
    sequencer.playedAfter(offset)?.filter(({ kind, cid, uids }) => kind !== "system" || cid !== undefined || uids?.[0]),
}));

/** A client that catches up hears what goes to everyone twice. */
export const hearsEveryoneBeforeReplay = withPart({
  createJoiner(dependencies) {
    const joiner = gatewayParts.createJoiner(dependencies);
    return {
      join: (connection, session, since, admit) =>
        joiner.join(connection, session, since, (isRecovered) => {
          admit(isRecovered);
          dependencies.audiences.joinOrganization(connection);
        }),
    };
  },
});

export const followsNoRemovals = withPart({
  createEventFacts() {
    const facts = gatewayParts.createEventFacts();
    return {
      ...facts,
      follow(event, uid, cids) {
        const before = [...cids];
        facts.follow(event, uid, cids);
        for (const cid of before) cids.add(cid);
      },
    };
  },
});

/** A client that catches up is subscribed before it has finished. */
export const subscribesBeforeReplay = withPart({
  createJoiner(dependencies) {
    const joiner = gatewayParts.createJoiner(dependencies);
    return {
      join: (connection, session, since, admit) =>
        joiner.join(connection, session, since, (isRecovered) => {
          admit(isRecovered);
          if (isRecovered) for (const cid of session.cids) dependencies.audiences.join(connection, cid);
        }),
    };
  },
});

export const replaysWhatWasSeen = withRecovery(({ resumeAfter }) => ({
  async resumeAfter(absence, since) {
    const resumption = await resumeAfter(absence, since);
    return resumption && { ...resumption, offset: resumption.offset - 1 };
  },
}));

export const replaysOnePage = withRecovery(({ read }) => {
  const done = new WeakSet<object>();
  return {
    async read(absence, after, maxBytes) {
      if (done.has(absence)) return [];
      done.add(absence);
      return await read(absence, after, maxBytes);
    },
  };
});

/** The sequencer is released as soon as it is acquired. */
export const releasesSequencersEarly = withJoinsOn((sequencers) => ({
  async acquire(org) {
    const sequencer = await sequencers.acquire(org);
    sequencers.release(sequencer);
    return sequencer;
  },
  release: () => undefined,
}));

export const keepsSequencers = withJoinsOn(() => ({ release: () => undefined }));

/** The id of the session's head is not compared with the log. */
export const joinsAnyLog = withJoinsOnOne((sequencer) => ({
  async reached(offset) {
    if (offset > sequencer.position) await sequencer.reached(offset, undefined);
  },
}));

/** If the session's head is in the ring, what was played after it is assumed to still exist. */
export const joinsBeyondSession = withJoinsOnOne((sequencer) => ({
  async reached(offset, id) {
    const [at] = sequencer.playedAfter(offset - 1) ?? [];
    const isInRing = at?.offset === offset && at.id === id;
    if (!isInRing || sequencer.isOver) await sequencer.reached(offset, id);
  },
}));

export const replaysTwoLogs = withJoinsOnOne(() => ({ verified: async () => undefined }));

/** A ledger that fails keeps its user out. */
export const joinsOnlyWithLedger = withPart({
  createAccounting(dependencies) {
    const accounting = gatewayParts.createAccounting(dependencies);
    return { ...accounting, guardedLedger: { ...accounting.guardedLedger, given: dependencies.ledger.given } };
  },
});
