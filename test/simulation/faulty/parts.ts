import type { SocketTopics } from "../../../src/gateway/fanout/socket-topics.ts";
import {
  createSequencer,
  type Sequencer,
  type SequencerParts,
  sequencerParts,
} from "../../../src/gateway/log/sequencer.ts";
import { type GatewayParts, gatewayParts } from "../../../src/gateway/parts.ts";
import type { ThreadScheduler } from "../../../src/lib/event-loop/thread-scheduler.ts";
import type { Recovery } from "../../../src/services/messages/recovery.ts";
import { type Product, product } from "../product.ts";
import { overriding } from "./overriding.ts";

type SequencerOptions = Parameters<typeof createSequencer>[0];
type Sequencers = ReturnType<GatewayParts["createSequencers"]>;

/** The product with another part in its gateway. */
export function withPart(part: Partial<GatewayParts>): Product {
  return {
    ...product,
    createGateway: (dependencies, parts = gatewayParts) => product.createGateway(dependencies, { ...parts, ...part }),
  };
}

type FanoutDependencies = Parameters<GatewayParts["createSocketTopics"]>[0];

/** The product that writes to sockets in another way. The world decides how large parts are. */
export function withFanout(
  change: (socketTopics: SocketTopics, dependencies: FanoutDependencies) => Partial<SocketTopics>,
): Product {
  return {
    ...product,
    createGateway(dependencies, parts = gatewayParts) {
      const createSocketTopics = (options: FanoutDependencies) => {
        const socketTopics = parts.createSocketTopics(options);
        return { ...socketTopics, ...change(socketTopics, options) };
      };
      return product.createGateway(dependencies, { ...parts, createSocketTopics });
    },
  };
}

/** The product whose work for the thread asks for turns in another way. */
export function withTurns(change: (thread: ThreadScheduler) => ThreadScheduler["turn"]): Product {
  return withThread((options) => {
    const thread = product.createThreadScheduler(options);
    return overriding(thread, { turn: change(thread) });
  });
}

/** The product with another scheduler of the thread. */
export function withThread(createThreadScheduler: Product["createThreadScheduler"]): Product {
  return { ...product, createThreadScheduler };
}

/** The product with another part in its sequencers. */
export function withSequencerPart(part: Partial<SequencerParts>): Product {
  return withSequencers((options) => createSequencer(options, { ...sequencerParts, ...part }));
}

/** The product with sequencers created by another function. */
export function withSequencers(create: (options: SequencerOptions) => Sequencer): Product {
  return withPart({ createSequencers: (options) => gatewayParts.createSequencers(options, create) });
}

/** The product with some methods of its sequencers replaced. */
export function withSequencersThat(
  change: (sequencer: Sequencer, options: SequencerOptions) => Partial<Sequencer>,
): Product {
  return withSequencers((options) => {
    const sequencer = createSequencer(options);
    return overriding(sequencer, change(sequencer, options));
  });
}

/** The product with changed reads of the log in its sequencers. */
export function withReads(
  change: (
    read: SequencerOptions["read"],
    sequencer: () => Sequencer,
    options: SequencerOptions,
  ) => SequencerOptions["read"],
): Product {
  return withSequencers((options) => {
    const read = change(options.read, () => sequencer, options);
    const sequencer: Sequencer = createSequencer({ ...options, read });
    return sequencer;
  });
}

/** The product in which joining connections see other sequencers than the rest of the node. */
export function withJoinsOn(change: (sequencers: Sequencers) => Partial<Sequencers>): Product {
  return withPart({
    createJoiner: (dependencies) => {
      const { sequencers } = dependencies;
      return gatewayParts.createJoiner({ ...dependencies, sequencers: overriding(sequencers, change(sequencers)) });
    },
  });
}

/** The product in which joining connections see sequencers with some methods replaced. */
export function withJoinsOnOne(change: (sequencer: Sequencer) => Partial<Sequencer>): Product {
  const whole = new WeakMap<Sequencer, Sequencer>();
  return withJoinsOn((sequencers) => ({
    async acquire(org) {
      const sequencer = await sequencers.acquire(org);
      const seen = overriding(sequencer, change(sequencer));
      whole.set(seen, sequencer);
      return seen;
    },
    release: (seen) => sequencers.release(whole.get(seen) ?? seen),
  }));
}

/** The product whose recovery has some methods replaced. */
export function withRecovery(change: (recovery: Recovery) => Partial<Recovery>): Product {
  return {
    ...product,
    createRecovery(options) {
      const recovery = product.createRecovery(options);
      return { ...recovery, ...change(recovery) };
    },
  };
}
