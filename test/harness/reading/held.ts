import { eventually } from "../deadline.ts";
import type { Herald } from "../servers/herald.ts";
import { readMetrics } from "./metrics.ts";

/**
 * What a node holds for connections, without zeros. Takes up to a second, as the metrics may be a copy from before the
 * call.
 */
export async function heldBy({ http }: Pick<Herald, "http">): Promise<Record<string, number>> {
  const scrape = async () => (await http<string>("GET", "/metrics")).text;
  const old = await scrape();
  const text = await eventually(async () => {
    const next = await scrape();
    return next === old ? undefined : next;
  }, "metrics that were made after they were asked for");
  const samples = readMetrics(text).samples.filter(({ name }) => name === "herald_held");
  if (samples.length === 0) throw new Error("the node does not say what it holds");
  return Object.fromEntries(
    samples.filter(({ value }) => value !== 0).map(({ labels, value }) => [labels.what, value]),
  );
}

/** Waits until a node without connections holds nothing. */
export async function expectNothingHeld(herald: Pick<Herald, "http">): Promise<void> {
  let held: Record<string, number> = {};
  await eventually(
    async () => {
      held = await heldBy(herald);
      return Object.keys(held).length === 0 || undefined;
    },
    () => `the node to hold nothing, not ${JSON.stringify(held)}`,
  );
}
