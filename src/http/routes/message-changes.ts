import type { Operations } from "../../contract/operations/all.ts";
import type { Changes } from "../../services/messages/changes.ts";
import type { DryRuns } from "../../services/messages/dry-runs.ts";
import type { Bind } from "../bind.ts";

type Services = { changes: Changes; dryRuns: Pick<DryRuns, "edit" | "recall"> };

/** Binds the operations that change messages, and their dry runs. */
export function bindMessageChanges(bind: Bind, operations: Operations, { changes, dryRuns }: Services): void {
  bind(operations.editMessage, async ({ caller, query, body }) => ({
    status: 200,
    ...(query.dry_run ? await dryRuns.edit(caller, body) : await changes.edit(caller, body)),
  }));
  bind(operations.recallMessages, async ({ caller, query, body }) => ({
    status: 200,
    ...(query.dry_run ? await dryRuns.recall(caller, body) : await changes.recall(caller, body)),
  }));
}
