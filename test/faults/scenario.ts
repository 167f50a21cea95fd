import type { Random } from "../harness/random.ts";
import type { StoredLog } from "../harness/reading/event-log.ts";
import type { ClusterNode } from "../harness/servers/cluster.ts";
import type { Organization } from "../harness/servers/organization.ts";
import type { Audience, Listeners } from "./audience.ts";
import type { CallerPlan, Callers } from "./callers.ts";
import type { Past } from "./judging/verdict.ts";

/** How much: `short` is for every run of the tests, `long` is `npm run faults`. */
export type Size = "short" | "long";

/** What a fault happens to. */
export type Stage = {
  readonly nodes: readonly ClusterNode[];
  /** Reads what is stored, past Herald. */
  readLog(org: string): Promise<StoredLog>;
  /** What stood in the database before another server took over, where that happens. */
  readonly pasts?: readonly Past[];
  /** When nodes were away, in scenarios in which only these may refuse sends. */
  readonly absences?: readonly Absence[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** A node that was told to go, and when it was back. Times in milliseconds since the Unix epoch. */
export type Absence = { url: string; from: number; to: number };

/** What a fault is made with. The first round is 1. */
export type Means = {
  round: number;
  random: Random;
  org: Organization;
  callers: Callers;
  audience: Audience;
  listeners: Listeners;
  size: Size;
};

/** Ends a fault. */
export type Heal = () => Promise<void> | void;

/** One row of the list of faults: how to break something, and what must come of it. */
export type Scenario<On extends Stage = Stage> = {
  /** For `--only`. */
  name: string;
  /** The command that plays it; without, `npm run faults`. */
  command?: string;
  /** What happens, in words. */
  row: string;
  /** What must come of it, beyond what always must: nothing lost, doubled or misordered, no holes. */
  expected: string;
  /** How often it is broken; 0 leaves it out. */
  rounds: Record<Size, number>;
  /** The shortest and the longest time that it stays broken. */
  holdMs: Record<Size, [shortest: number, longest: number]>;
  /** Which answers beside 201 may come; `none` is no answer. */
  allows: string[];
  /** Answers that must have come, since without them nothing was broken. */
  requires?: string[];
  /** Whether a connection may break. Without, each must stay open. */
  breaksConnections?: boolean;
  /** The codes with which connections may end; without it, any. 1006 means none. */
  closesWith?: number[];
  /** Whether connections that stop reading must be broken. */
  cutsSlowReaders?: boolean;
  /** Whether the database loses what it had acknowledged. Without it, the database must not. */
  losesTail?: boolean;
  /** Whether everyone must hear what is sent while it is broken, before it is healed. */
  hearsMeanwhile?: boolean;
  calls?: Partial<CallerPlan>;
  /** How many sends there are between two faults, at most. */
  mostSendsBetween?: number;
  listeners?: (size: Size) => Partial<Listeners>;
  /** Whether they listen in a process of their own, so that they and the callers do not wait for each other. */
  listensApart?: boolean;
  /** Starts what it happens to; `undefined` where something is not installed. */
  stage(): Promise<On | undefined>;
  /** Breaks something, and gives what ends it. */
  break(stage: On, means: Means): Promise<Heal> | Heal;
  /** Looks at the stage after each round, when everyone is current again; rejects when something is not as it must be. */
  inspect?(stage: On, means: Means): Promise<void>;
};

/** A scenario of which only its own functions know the stage. */
export type AnyScenario = Omit<Scenario, "stage" | "break" | "inspect"> & {
  start(): Promise<Started | undefined>;
};

type Started = {
  stage: Stage;
  break(means: Means): Promise<Heal> | Heal;
  inspect(means: Means): Promise<void>;
};

/** Makes a scenario one among others, whatever its stage is. */
export function defineScenario<On extends Stage>(scenario: Scenario<On>): AnyScenario {
  const { stage: open, break: breakIt, inspect, ...rest } = scenario;
  return {
    ...rest,
    async start() {
      const stage = await open();
      if (stage === undefined) return undefined;
      return {
        stage,
        break: (means) => breakIt(stage, means),
        inspect: async (means) => await inspect?.(stage, means),
      };
    },
  };
}
