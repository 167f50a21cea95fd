import type { Step } from "./step.ts";

const togetherMs = 60_000;
const crowds: readonly Step["kind"][] = ["delivered", "acknowledged", "grown", "read", "seen"];

/** Operations that only read a message, each of which the audit log keeps. */
const reads = /^(?:get|list)/;

/** The name of what a step is folded with; `undefined` if it stands for itself. */
function crowdOf({ kind, keys, details, isBad }: Step): string | undefined {
  if (crowds.includes(kind)) return kind;
  const isRead = kind === "audit" && isBad !== true && details.every((detail) => reads.test(detail));
  return isRead ? `audit ${keys[0] ?? ""}` : undefined;
}

/**
 * Folds what many do within a minute of each other, such as receiving a message, and reads with the same key, into one step, at
 * the place of the first. What changes a message stays between what was before and what came after.
 */
export function foldSteps(steps: readonly Step[]): Step[] {
  const folded: Step[] = [];
  const open = new Map<string, number>();
  for (const step of steps) {
    const name = crowdOf(step);
    const place = name === undefined ? undefined : open.get(name);
    const crowd = place === undefined ? undefined : folded[place];
    if (name === undefined && step.kind !== "audit") open.clear();
    if (place !== undefined && crowd !== undefined && isSoonAfter(crowd, step)) folded[place] = join(crowd, step);
    else {
      if (name !== undefined) open.set(name, folded.length);
      folded.push(step);
    }
  }
  return folded;
}

function isSoonAfter({ at, until = at }: Step, next: Step): boolean {
  return Date.parse(next.at) - Date.parse(until) <= togetherMs;
}

function join(first: Step, next: Step): Step {
  const { at, until = at } = next;
  return {
    ...first,
    ...(until !== first.at && { until }),
    count: first.count + next.count,
    uids: [...new Set([...first.uids, ...next.uids])],
    details: [...new Set([...first.details, ...next.details])],
  };
}
