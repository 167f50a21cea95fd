import { toNobody } from "../../../src/gateway/fanout/played.ts";
import { gatewayParts } from "../../../src/gateway/parts.ts";
import { planReads } from "../../../src/store/reads/read-plan.ts";
import { type Product, product } from "../product.ts";
import { withPart } from "./parts.ts";

type Plan = Product["planReads"];

const withPlan = (plan: Plan): Product => ({ ...product, planReads: plan });

/** The mark under the lock is not looked at: what was unread when the call came is named. */
export const trustsTheLook = withPlan((reads, found) => {
  const marks = new Map(Array.from(found.marks, ([key]) => [key, 0]));
  return planReads(reads, { ...found, marks });
});

/** The mark moves beyond what was read, though the log may have been set back since. */
export const movesMarksBeyondWhatWasRead = withPlan((reads, found) => {
  const plan = planReads(reads, found);
  return { ...plan, moved: plan.moved.map((move) => ({ ...move, read_to: move.read_to + 5 })) };
});

/** The ids of the log are not looked at again. */
export const trustsOffsets = withPlan((reads, found) => {
  const ids = new Map(found.ids);
  for (const { org, unread } of reads) for (const { offset, id } of unread) ids.set(`${org}\u001f${offset}`, id);
  return planReads(reads, { ...found, ids });
});

export const playsReadsToNobody = withPart({
  createPlayer(dependencies) {
    const play = gatewayParts.createPlayer(dependencies);
    return (event) => (event.kind === "read" ? toNobody : play(event));
  },
});
