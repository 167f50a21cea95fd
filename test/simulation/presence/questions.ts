import type { Bus, PresenceAnswer, PresenceQuestion } from "../../../src/bus/bus.ts";
import { unavailable } from "../../../src/contract/errors/errors.ts";
import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import type { PresenceClimate } from "./climate.ts";

/** A node on the bus: how it answers, and whether it does. */
export type Answering = {
  readonly id: string;
  answer(question: PresenceQuestion): PresenceAnswer;
  isAlive(): boolean;
  isCutOff(): boolean;
  thawed(): Promise<void>;
};

const answersWithinMs = 1_000;

type Options = { random: Random; climate: PresenceClimate; now(): number };

/** The questions that nodes ask each other, as the bus carries them. */
export type Questions = ReturnType<typeof createQuestions>;

/** Creates a bus that takes time, loses answers, and gets none from nodes that are gone, frozen or cut off. */
export function createQuestions({ random, climate, now }: Options) {
  const nodes = new Set<Answering>();
  const flight = () => pause(random.integer(0, climate.latencyMs));

  async function ask(from: Answering, to: Answering, question: PresenceQuestion): Promise<string | undefined> {
    await flight();
    await to.thawed();
    if (!to.isAlive() || to.isCutOff()) return undefined;
    const answer = JSON.stringify(to.answer(question));
    await flight();
    const isLost = from !== to && now() < climate.activeMs && random.next() < climate.lostOnBus;
    return isLost || to.isCutOff() || from.isCutOff() ? undefined : answer;
  }

  return {
    /** Puts a node on the bus; it leaves with the function that is returned. */
    attach(node: Answering): () => void {
      nodes.add(node);
      return () => void nodes.delete(node);
    },
    /** What a node asks with. */
    from(node: Answering): Pick<Bus, "request"> {
      return {
        async request(question, awaited) {
          const answers = new Map<string, PresenceAnswer>();
          const whole = Promise.withResolvers<void>();
          const hear = async (to: Answering) => {
            const answer = await ask(node, to, question);
            if (answer !== undefined) answers.set(to.id, JSON.parse(answer));
            if (awaited.every((id) => answers.has(id))) whole.resolve();
          };
          for (const to of nodes) void hear(to);
          await Promise.race([whole.promise, pause(answersWithinMs)]);
          await node.thawed();
          if (!node.isAlive()) await new Promise(() => undefined);
          if (!answers.has(node.id)) throw unavailable();
          return new Map(answers);
        },
      };
    },
  };
}
