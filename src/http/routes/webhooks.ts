import type { Operations } from "../../contract/operations/all.ts";
import type { Webhooks } from "../../services/webhooks/webhooks.ts";
import { answerDone, answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

const testMayTakeSeconds = 20; // a receiver has 15

/** Binds the webhooks of organizations. */
export function bindWebhooks(bind: Bind, operations: Operations, { hooks }: { hooks: Webhooks }): void {
  bind(operations.putWebhook, async ({ caller, params: { org, wid: id }, body }) => {
    const { shown, isNew } = await hooks.put(caller, { org, id }, body);
    return { status: isNew ? 201 : 200, body: shown };
  });
  bind(operations.getWebhook, ({ params: { org, wid: id } }) => answerShowing(hooks.get({ org, id })));
  bind(operations.listWebhooks, ({ params: { org }, query }) => answerShowing(hooks.list(org, query)));
  bind(operations.deleteWebhook, ({ params: { org, wid: id } }) => answerDone(hooks.remove({ org, id })));
  bind(operations.rotateWebhook, ({ caller, params: { org, wid: id } }) =>
    answerShowing(hooks.rotate(caller, { org, id })),
  );
  bind(operations.testWebhook, ({ params: { org, wid: id } }, call) =>
    answerShowing(call().mayIdle(testMayTakeSeconds, () => hooks.test({ org, id }))),
  );
  bind(operations.listWebhookDeliveries, ({ params: { org, wid: id }, query }) =>
    answerShowing(hooks.deliveries({ org, id }, query)),
  );
  bind(operations.redeliverWebhook, async ({ caller, params: { org, wid: id, did } }) => ({
    status: 202,
    body: await hooks.redeliver(caller, { org, id }, did),
  }));
}
