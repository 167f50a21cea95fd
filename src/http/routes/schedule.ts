import type { Operations } from "../../contract/operations/all.ts";
import type { DryRuns } from "../../services/messages/dry-runs.ts";
import type { Schedule } from "../../services/schedule/schedule.ts";
import { answerDone, answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

type Services = { schedule: Schedule; dryRuns: DryRuns };

/** Binds the sends that wait for their time. */
export function bindSchedule(bind: Bind, operations: Operations, { schedule, dryRuns }: Services): void {
  bind(operations.putScheduled, async ({ caller, params: { org, sid: id }, query, body }) => {
    if (query.dry_run) {
      await schedule.check(caller, org, body);
      const { request } = body;
      const { body: dryRun } = await ("messageSystem" in request
        ? dryRuns.systemMessage(caller, request)
        : dryRuns.message(caller, request));
      return { status: 200, body: dryRun };
    }
    const { shown, isNew } = await schedule.put(caller, { org, id }, body);
    return { status: isNew ? 201 : 200, body: shown };
  });
  bind(operations.getScheduled, ({ params: { org, sid: id } }) => answerShowing(schedule.get({ org, id })));
  bind(operations.deleteScheduled, ({ caller, params: { org, sid: id } }) =>
    answerDone(schedule.cancel(caller, { org, id })),
  );
  bind(operations.listScheduled, ({ params, query }) => answerShowing(schedule.list(params.org, query)));
}
