import type { Random } from "../harness/random.ts";
import type { StoredLog } from "../harness/reading/event-log.ts";
import type { ClusterNode } from "../harness/servers/cluster.ts";
import type { Organization } from "../harness/servers/organization.ts";
import type { Audience, Listeners } from "./audience.ts";
import type { CallerPlan, Callers } from "./callers.ts";
import type { Past } from "./judging/verdict.ts";

/** How much: `short` for every run of the tests, `long` for `npm run faults`. */
export type Size = "short" | "long";

/** What a fault happens to. */
export type Stage = {
  readonly nodes: readonly ClusterNode[];
  /** Reads what is stored, bypassing Herald. */
  readLog(org: string): Promise<StoredLog>;
  /** The content of the database before another server took over, if that happens. */
  readonly pasts?: readonly Past[];
  /** When nodes were away, in scenarios in which only these may refuse sends. */
  readonly absences?: readonly Absence[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** A node that was told to stop, and when it was back. Times in milliseconds since the Unix epoch. */
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

/** One row of the list of faults: how to break something, and the required outcome. */
export type Scenario<On extends Stage = Stage> = {
  /** For `--only`. */
  name: string;
  /** The command that plays it; `npm run faults` by default. */
  command?: string;
  /** What happens, in words. */
  row: string;
  /** The required outcome, besides the permanent requirements: nothing lost, duplicated or misordered, no holes. */
  expected: string;
  /** How often to break it; 0 skips it. */
  rounds: Record<Size, number>;
  /** The shortest and the longest time that it stays broken. */
  holdMs: Record<Size, [shortest: number, longest: number]>;
  /** Answers other than 201 that may come; `none` is no answer. */
  allows: string[];
  /** Answers that must have come, as otherwise nothing was broken. */
  requires?: string[];
  /** Whether a connection may break. Otherwise all must stay open. */
  breaksConnections?: boolean;
  /** The codes with which connections may end; any by default. 1006 means none. */
  closesWith?: number[];
  /** Whether connections that stop reading must be broken. */
  cutsSlowReaders?: boolean;
  /** Whether the database loses what it had acknowledged. Otherwise it must not. */
  losesTail?: boolean;
  /** Whether everyone must hear what is sent during the fault before it is healed. */
  hearsMeanwhile?: boolean;
  /** Whether nobody edits, takes back, schedules or sends batches meanwhile, because the nodes or the load rule it out. */
  isWithoutChanges?: boolean;
  calls?: Partial<CallerPlan>;
  /** The maximum number of sends between two faults. */
  mostSendsBetween?: number;
  listeners?: (size: Size) => Partial<Listeners>;
  /** Whether listeners run in a process of their own, so that they and the callers do not delay each other. */
  listensApart?: boolean;
  /** Starts what it happens to; `undefined` if something is not installed. */
  stage(): Promise<On | undefined>;
  /** Breaks something; returns the function that heals it. */
  break(stage: On, means: Means): Promise<Heal> | Heal;
  /** Examines the stage after each round, once everyone is up to date; rejects if something is wrong. May return figures. */
  inspect?(stage: On, means: Means): Promise<string | undefined>;
};

/** A scenario whose stage only its own functions know. */
export type AnyScenario = Omit<Scenario, "stage" | "break" | "inspect"> & {
  start(): Promise<Started | undefined>;
};

type Started = {
  stage: Stage;
  break(means: Means): Promise<Heal> | Heal;
  inspect(means: Means): Promise<string | undefined>;
};

/** Hides the type of a scenario's stage, so that it can be listed with others. */
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
