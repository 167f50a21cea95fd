import { within } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { errorsLogged } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { openAudience, usersOf } from "./audience.ts";
import { spawnAudience } from "./audience-process.ts";
import { startCallers } from "./callers.ts";
import { startChanges } from "./changes/changes.ts";
import { leftBehind } from "./judging/left-behind.ts";
import { faultsOf, type Recoveries, type Result, toResult } from "./judging/result.ts";
import type { AnyScenario, Size } from "./scenario.ts";

const recoverWithinMs = 60_000;
const conversations = ["room", "hall", "yard"];
const sender = "the sender";
const defaultCalls = { callers: 6, pauseMs: 25, bodySizes: [1, 400] as [number, number], nodesAtOnce: 1 };
const defaultListeners = { followers: 9, streamFollowers: 3, witnesses: 6, streams: 3, slow: 0 };
/** The maximum number of sends between two faults. */
const mostSendsBetween = { short: 60, long: 300 };

type Options = { seed: number; size: Size; rounds?: number | undefined; onRound?: (text: string) => void };

/** The command that repeats a run: the seed decides everything except what the machine does. */
export function repeatCommand(
  { name, command }: Pick<AnyScenario, "name" | "command">,
  { seed, size, rounds }: Options,
): string {
  const flags = [size === "short" ? " --short" : "", rounds === undefined ? "" : ` --rounds ${rounds}`];
  return `${command ?? `npm run faults -- --only ${name}`} --seed ${seed}${flags.join("")}`;
}

/**
 * Plays one scenario. `faults` lists what is wrong. `undefined` if something is not installed; rejects if something
 * does not recover.
 */
export async function runScenario(
  scenario: AnyScenario,
  options: Options,
): Promise<{ result: Result; faults: string[] } | undefined> {
  try {
    return await play(scenario, options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${repeatCommand(scenario, options)}: ${reason}`, { cause });
  }
}

async function play(scenario: AnyScenario, { seed, size, rounds = scenario.rounds[size], onRound }: Options) {
  const started = await scenario.start();
  if (started === undefined) return undefined;
  await using stage = started.stage;
  const { nodes } = stage;
  const [first] = nodes;
  if (first === undefined) throw new Error("a scenario without a node");

  const listeners = { ...defaultListeners, ...scenario.listeners?.(size) };
  const org = await createOrganization(first.herald);
  for (const cid of conversations) await org.conversation([sender, ...usersOf(listeners)], cid);
  const open = scenario.listensApart === true ? spawnAudience : openAudience;
  using audience = await open({ ...listeners, org: org.id, urls: nodes.map(({ url }) => url), seed });
  const plan = { ...defaultCalls, homes: nodes.length, ...scenario.calls };
  using callers = startCallers({ nodes, org: org.id, cids: conversations, sender, plan, seed });
  using changes =
    scenario.isWithoutChanges === true
      ? undefined
      : await startChanges({ nodes, seed, losesTail: scenario.losesTail === true });

  /** Sends to each of these nodes and waits until everyone has heard it. Returns the times this took. */
  async function recover(asked = nodes): Promise<{ sendsMs: number; currentMs: number }> {
    const from = performance.now();
    const probes = Promise.all(asked.map((node) => callers.sendTo(node)));
    const ids = await within(probes, "each node to answer 201", recoverWithinMs);
    const sendsMs = performance.now() - from;
    await audience.heard(ids, recoverWithinMs);
    return { sendsMs, currentMs: performance.now() - from };
  }

  const random = createRandom(seed); // the fault's own, so that it does not depend on the callers' pace
  const recoveries: Recoveries = { sendsAgainMs: [], currentAgainMs: [], heardMeanwhileMs: [] };
  const means = { random, org, callers, audience, listeners, size };
  await recover(); // only a client that has heard something can resume after it
  for (let round = 1; round <= rounds; round += 1) {
    await callers.progress(random.integer(5, scenario.mostSendsBetween ?? mostSendsBetween[size]));
    const heal = await started.break({ ...means, round });
    try {
      await Bun.sleep(random.integer(...scenario.holdMs[size]));
      if (scenario.hearsMeanwhile === true)
        recoveries.heardMeanwhileMs.push((await recover(nodes.slice(0, plan.homes))).currentMs);
    } finally {
      await heal();
    }
    const { sendsMs, currentMs } = await recover();
    recoveries.sendsAgainMs.push(sendsMs);
    recoveries.currentAgainMs.push(currentMs);
    const figures = await started.inspect({ ...means, round });
    const sends = `${callers.acknowledged.length} acknowledged, current in ${currentMs | 0} ms`;
    onRound?.([`round ${round}/${rounds}: ${sends}`, ...(figures === undefined ? [] : [figures])].join("; "));
  }
  await callers.stop();
  const last = await org.sent(sender, { cid: "room", body: "the last" });
  await audience.heard([last.server_mid], recoverWithinMs);

  const stored = await stage.readLog(org.id);
  const hearing = await audience.account(stored.messages, stage.pasts ?? []);
  const changed = (await changes?.end()) ?? [];
  const result = toResult({ scenario, seed, recoveries, callers, hearing, stored, stage });
  audience[Symbol.dispose]();
  const faults = [...faultsOf(scenario, result), ...changed, ...(await leftBehind(nodes))];
  if (faults.length > 0) faults.push(...nodes.flatMap(({ herald }) => errorsLogged(herald)));
  return { result, faults };
}
