import { hasExpired } from "../../../src/contract/log/log-event.ts";
import { toNobody } from "../../../src/gateway/fanout/played.ts";
import { type GatewayParts, gatewayParts } from "../../../src/gateway/parts.ts";
import type { Clock } from "../../../src/lib/time/clock.ts";
import { type Product, product } from "../product.ts";

/** By this clock, nothing expires. */
const stopped: Clock = { now: () => 0 };

/** The clocks by which events expire, of which the gateway's is that of streams. */
type Clocks = Record<"gateway" | "player" | "joiner" | "sockets", Clock>;
type ExpiryDependencies = Parameters<Product["createExpiry"]>[0];

/** What has expired before it is played is written. */
export const playsExpired = withClocks(() => ({ gateway: stopped, player: stopped, sockets: stopped }));

/** What has expired since it was read or played is given to who joins. */
export const joinsWithExpired = withClocks(() => ({ joiner: stopped }));

/** What expires while it waits for sockets is written. */
export const writesWaitingExpired = withClocks(() => ({ sockets: stopped }));

/** What expires while it waits for a slow stream is written. */
export const keepsWaitingExpired = withClocks(() => ({ gateway: stopped }));

/** The clock of the node decides, and not that of the database. */
export const expiresByOwnClock = withClocks((own) => ({ gateway: own, player: own, joiner: own, sockets: own }));

/** Organizations of which an end has failed are left alone. */
export const triesNoEndAgain = withExpiry(({ endSome, ...expiry }) => {
  const failed = new Set<string>();
  return {
    ...expiry,
    async endSome(org, now) {
      if (failed.has(org)) return 0;
      try {
        return await endSome(org, now);
      } catch (error) {
        failed.add(org);
        throw error;
      }
    },
  };
});

const earlyMs = 500;

/** All ends half a second early. */
export const endsEarly = withExpiry(({ next, dueOrganizations, endSome, isShared }) => ({
  isShared,
  async next() {
    const { now, nextAt } = await next();
    return { now: now + earlyMs, nextAt };
  },
  dueOrganizations,
  endSome,
}));

/** A node ends only what it was asked for itself. */
export const endsOwnOnly: Product = {
  ...product,
  createExpiry({ expiry, elapsed, ...rest }) {
    const own: number[] = [];
    const created = product.createExpiry({
      ...rest,
      elapsed,
      expiry: {
        ...expiry,
        async next() {
          const { now, nextAt } = await expiry.next();
          return { now, nextAt: nextAt !== undefined && own.includes(nextAt) ? nextAt : undefined };
        },
      },
    });
    return {
      ...created,
      expect(waitMs) {
        own.push(elapsed.now() + waitMs);
        created.expect(waitMs);
      },
    };
  },
};

/** The product whose job ends what expires on another database. */
export function withExpiry(change: (expiry: ExpiryDependencies["expiry"]) => ExpiryDependencies["expiry"]): Product {
  return {
    ...product,
    createExpiry: (dependencies) => product.createExpiry({ ...dependencies, expiry: change(dependencies.expiry) }),
  };
}

/** The product in whose gateway events expire by other clocks; `change` is given that of the node. */
export function withClocks(change: (own: Clock) => Partial<Clocks>): Product {
  return {
    ...product,
    createGateway(dependencies, parts = gatewayParts) {
      const { databaseClock, clock } = dependencies;
      const right = { gateway: databaseClock, player: databaseClock, joiner: databaseClock, sockets: databaseClock };
      const { gateway, player, joiner, sockets } = { ...right, ...change(clock) };
      const changed: Partial<GatewayParts> = {
        createJoiner: (options) => parts.createJoiner({ ...options, databaseClock: joiner }),
        createSocketTopics: (options) => parts.createSocketTopics({ ...options, databaseClock: sockets }),
        createSequencers(options) {
          const play: typeof options.play = (event) =>
            hasExpired(event, player.now()) ? toNobody : options.play(event);
          return parts.createSequencers({ ...options, play });
        },
      };
      return product.createGateway({ ...dependencies, databaseClock: gateway }, { ...parts, ...changed });
    },
  };
}
