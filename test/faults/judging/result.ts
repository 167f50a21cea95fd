import type { StoredLog } from "../../harness/reading/event-log.ts";
import type { Hearing } from "../audience.ts";
import type { Callers, Refusal } from "../callers.ts";
import type { AnyScenario, Stage } from "../scenario.ts";
import { createChronicle, type Verdict } from "./verdict.ts";

/** How long recoveries took, in milliseconds, one figure per round. */
export type Recoveries = {
  /** From the end of the fault until a send to each node was answered with 201 … */
  sendsAgainMs: number[];
  /** … and until everyone had heard these sends. */
  currentAgainMs: number[];
  /** The same for sends at the end of the fault, if they have to be heard before it is healed. */
  heardMeanwhileMs: number[];
};

/** What was observed in a scenario. The verdict is on the store and all connections together. */
export type Result = Recoveries &
  Verdict & {
    name: string;
    row: string;
    expected: string;
    seed: number;
    rounds: number;
    acknowledged: number;
    /** How many of these the database lost. */
    lostByDatabase: number;
    /** Sends refused by a node that was not away, if it is known which nodes were. */
    refusedElsewhere: number;
    /** How often each answer other than 201 came; `none` counts missing ones. */
    otherAnswers: Record<string, number>;
    connections: number;
    /** How many were broken by others than us; those that stop reading on demand are counted separately. */
    brokenConnections: number;
    brokenSlowConnections: number;
    /** The codes with which these ended; 1006 means none. */
    closeCodes: number[];
    /** Offsets without an event. */
    holes: number;
    /** The longest time from a message's 201 to the last follower, in milliseconds, including faults. */
    slowestDeliveryMs: number;
  };

type Account = {
  scenario: AnyScenario;
  seed: number;
  recoveries: Recoveries;
  callers: Callers;
  hearing: Hearing;
  stored: StoredLog;
  stage: Stage;
};

/** Combines what callers were answered, what connections heard, and what is stored. */
export function toResult({ scenario, seed, recoveries, callers, hearing, stored, stage }: Account): Result {
  const { verdict } = hearing;
  const isStored = new Set(stored.messages);
  const vanished = callers.acknowledged.filter(({ serverMid }) => !isStored.has(serverMid));
  const { lostWith } = createChronicle(stored.messages, stage.pasts);
  const lostByDatabase = vanished.filter(({ serverMid }) => lostWith(serverMid) !== undefined).length;
  return {
    name: scenario.name,
    row: scenario.row,
    expected: scenario.expected,
    seed,
    rounds: recoveries.currentAgainMs.length,
    acknowledged: callers.acknowledged.length,
    lostByDatabase,
    refusedElsewhere: refusalsElsewhere(callers, stage),
    otherAnswers: Object.fromEntries([...callers.answers].filter(([answer]) => answer !== "201")),
    connections: hearing.connections,
    brokenConnections: hearing.broken,
    brokenSlowConnections: hearing.brokenSlow,
    closeCodes: hearing.closeCodes,
    ...verdict,
    lost: verdict.lost + vanished.length - lostByDatabase,
    doubled: verdict.doubled + callers.doubled.length + stored.doubledIds,
    holes: stored.holes,
    ...recoveries,
    slowestDeliveryMs: slowestDelivery(callers, hearing),
  };
}

function refusalsElsewhere({ refusals }: Callers, { absences }: Stage): number {
  if (absences === undefined) return 0;
  const isAway = ({ url, from, to }: Refusal) =>
    absences.some((absence) => absence.url === url && from <= absence.to && to >= absence.from);
  return refusals.filter((refusal) => !isAway(refusal)).length;
}

function slowestDelivery({ acknowledged }: Callers, { heardByAllAt }: Hearing): number {
  const heardAt = new Map(heardByAllAt);
  const times = acknowledged.map(({ serverMid, at }) => (heardAt.get(serverMid) ?? at) - at);
  return times.reduce((slowest, time) => Math.max(slowest, time), 0);
}

/** Describes everything that is wrong; empty if all is well. */
export function faultsOf(scenario: AnyScenario, result: Result): string[] {
  const { lost, doubled, misordered, unstored, gapsAdmitted, untold, ghosts, holes, refusedElsewhere, otherAnswers } =
    result;
  const mustBeZero = { lost, doubled, misordered, unstored, gapsAdmitted, untold, ghosts, holes, refusedElsewhere };
  const faults = Object.entries(mustBeZero).flatMap(([what, count]) => (count === 0 ? [] : `${count} ${what}`));
  for (const [answer, count] of Object.entries(otherAnswers))
    if (!scenario.allows.includes(answer)) faults.push(`${count} answers ${answer}`);
  for (const answer of scenario.requires ?? [])
    if (otherAnswers[answer] === undefined) faults.push(`no answer ${answer}, so nothing was broken`);
  const unexpected = result.closeCodes.filter((code) => scenario.closesWith?.includes(code) === false);
  if (unexpected.length > 0) faults.push(`connections ended with ${unexpected.join(", ")}`);
  if (scenario.breaksConnections !== true && result.brokenConnections > 0)
    faults.push(`${result.brokenConnections} connections broke`);
  if (scenario.losesTail !== true && result.lostByDatabase > 0)
    faults.push(`${result.lostByDatabase} lost by the database`);
  if (scenario.losesTail === true && result.lostByDatabase === 0)
    faults.push("the database lost nothing, so nothing was broken");
  if (scenario.cutsSlowReaders === true && result.brokenSlowConnections === 0)
    faults.push("no slow reader was cut, so nothing was broken");
  return faults;
}
