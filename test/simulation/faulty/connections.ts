import { HeraldError } from "../../../src/contract/errors/errors.ts";
import type { Heartbeats } from "../../../src/gateway/connections/heartbeat.ts";
import type { Audiences } from "../../../src/gateway/fanout/audiences.ts";
import { toNobody } from "../../../src/gateway/fanout/played.ts";
import { conversationTopic } from "../../../src/gateway/fanout/topics.ts";
import { gatewayParts } from "../../../src/gateway/parts.ts";
import { errorFrame } from "../../../src/gateway/websocket/frames.ts";
import type { Owner } from "../../../src/lib/owner.ts";
import type { Product } from "../product.ts";
import { overriding } from "./overriding.ts";
import { withPart } from "./parts.ts";

export const removedGoOnHearing = withAudiences(({ leave }) => ({
  leave(connection, cid) {
    leave(connection, cid);
    connection.subscribe(conversationTopic(connection.org, cid));
  },
}));

export const removedGoOnBeingCounted = withAudiences(() => ({
  leave: (connection, cid) => connection.unsubscribe(conversationTopic(connection.org, cid)),
}));

export const goneGoOnBeingCounted = withAudiences(() => ({ leaveAll: () => undefined }));

export const systemMessagesToConversationsGoToEveryone = withPart({
  createPlayer(dependencies) {
    const play = gatewayParts.createPlayer(dependencies);
    return (event) => {
      const isToConversation = event.kind === "system" && event.uids?.length === 0;
      return play(isToConversation ? { ...event, cid: undefined } : event);
    };
  },
});

export const joinedAreNotAmongEveryone = withAudiences(() => ({ joinOrganization: () => undefined }));

function withAudiences(change: (audiences: Audiences) => Partial<Audiences>): Product {
  return withPart({
    createAudiences(onEmpty) {
      const audiences = gatewayParts.createAudiences(onEmpty);
      return { ...audiences, ...change(audiences) };
    },
  });
}

export const signOutsCloseNobody = withPart({
  createPlayer(dependencies) {
    const play = gatewayParts.createPlayer(dependencies);
    return (event) => (event.kind === "session" ? toNobody : play(event));
  },
});

/** A failure after an event was played makes it play again. */
export const playsAgainAfterFailure = withPart({
  createAccounting(dependencies) {
    const accounting = gatewayParts.createAccounting(dependencies);
    const { played, playedTo } = dependencies.ledger;
    return { ...accounting, guardedLedger: { ...accounting.guardedLedger, played, playedTo } };
  },
  createPlayer(dependencies) {
    const play = gatewayParts.createPlayer(dependencies);
    return (event) => {
      try {
        return play(event);
      } catch {
        return play(event);
      }
    };
  },
});

/** Holds nothing. */
const forgetful = (owner: Owner): Owner => overriding(owner, { hold: () => () => undefined });
/** Holds nothing once it has closed. */
const forgetfulOnceClosed = (owner: Owner): Owner =>
  overriding(owner, { hold: (release) => (owner.isClosed ? () => undefined : owner.hold(release)) });

export const keepsWhatIsTakenLate = withOwners(forgetfulOnceClosed);
/** Not a bug: owners that behave like the product's. */
export const hasOtherOwners = withOwners((owner) => overriding(owner, {}));
export const keepsPlaces = withPart(withPlacesOf(forgetful));
export const keepsHeartbeats = withPart(withHeartbeatsOf(forgetful));

/** The product with other owners for everything taken for a connection. */
function withOwners(change: (owner: Owner) => Owner): Product {
  return withPart({
    ...withPlacesOf(change),
    ...withHeartbeatsOf(change),
    createJoiner(dependencies) {
      const joiner = gatewayParts.createJoiner(dependencies);
      return {
        join(connection, session, since, admit) {
          const owner = change(connection.owner);
          return joiner.join(overriding(connection, { owner }), session, since, admit);
        },
      };
    },
  });
}

/** Places of users with other owners. */
function withPlacesOf(change: (owner: Owner) => Owner) {
  return {
    createConnectionQuotas(limits: Parameters<typeof gatewayParts.createConnectionQuotas>[0]) {
      const quotas = gatewayParts.createConnectionQuotas(limits);
      return overriding(quotas, { takeForUser: (owner, user) => quotas.takeForUser(change(owner), user) });
    },
  };
}

/** Heartbeats with other owners. */
function withHeartbeatsOf(change: (owner: Owner) => Owner) {
  return {
    createHeartbeats(dependencies: Parameters<typeof gatewayParts.createHeartbeats>[0]): Heartbeats {
      const { once, repeat, watch } = gatewayParts.createHeartbeats(dependencies);
      return {
        once: (owner, ...rest) => once(change(owner), ...rest),
        repeat: (owner, ...rest) => repeat(change(owner), ...rest),
        watch: (owner, ...rest) => watch(change(owner), ...rest),
      };
    },
  };
}

export const answersTwice = withPart({
  createSocketSessions(dependencies) {
    const sessions = gatewayParts.createSocketSessions(dependencies);
    return {
      ...sessions,
      async answer(socket, line, frame) {
        try {
          await sessions.answer(socket, line, frame);
        } catch (thrown) {
          line.write([errorFrame(frame.id, new HeraldError("internal", "it failed after the answer"))]);
          throw thrown;
        }
      },
    };
  },
});
