import { toIso } from "../../contract/identifiers.ts";
import type { NodeProblem, NodeProblemKind } from "../../contract/nodes.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Gauges } from "./gauges.ts";

// As in deploy/prometheus/alerts.yml.
const outboxMayWaitMs = 10_000;
const webhooksMayWaitMs = 30_000;
const scheduledMayWaitMs = 10_000;

type Inputs = {
  dependencies: { [dependency in keyof Dependencies]: Pick<Dependencies[dependency], "awayMs"> };
  gauges(): Pick<Gauges, "outboxMs" | "webhooksMs" | "scheduled">;
  /** Whether the node is about to stop. */
  isStopping(): boolean;
  clock: Clock;
};

/** Creates what finds the problems of a node, as other nodes and the console show them. */
export function createNodeProblems({ dependencies, gauges, isStopping, clock }: Inputs): () => NodeProblem[] {
  let stoppingSince: number | undefined;

  return () => {
    const now = clock.now();
    const { database, bus, files, outbox, provider, signIn } = dependencies;
    const { outboxMs, webhooksMs, scheduled } = gauges();
    if (isStopping()) stoppingSince ??= now;
    const sinceMs: Record<NodeProblemKind, number | undefined> = {
      database: database.awayMs(),
      bus: bus.awayMs(),
      files: files.awayMs(),
      outbox: outbox.awayMs(),
      identity_provider: provider.awayMs(),
      sign_in_provider: signIn.awayMs(),
      outbox_waits: over(outboxMs, outboxMayWaitMs),
      webhooks_wait: over(webhooksMs, webhooksMayWaitMs),
      scheduled_wait: over(scheduled?.overdueMs, scheduledMayWaitMs),
      stopping: stoppingSince === undefined ? undefined : now - stoppingSince,
    };
    return Object.entries(sinceMs).flatMap(([kind, ms]) =>
      ms === undefined ? [] : [{ kind: kind as NodeProblemKind, since: toIso(now - ms) }],
    );
  };
}

function over(waitMs: number | undefined, mayWaitMs: number): number | undefined {
  return waitMs !== undefined && waitMs > mayWaitMs ? waitMs : undefined;
}
