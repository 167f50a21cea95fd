import type { Operations } from "../../contract/operations/all.ts";
import type { Webhooks } from "../../services/webhooks/webhooks.ts";
import type { Bind } from "../bind.ts";

const testMayTakeSeconds = 20; // a receiver has 15

/** Binds the webhooks of organizations. */
export function bindWebhooks(bind: Bind, operations: Operations, { hooks }: { hooks: Webhooks }): void {
  bind(operations.putWebhook, async ({ caller, params: { org, wid: id }, body }) => {
    const { shown, isNew } = await hooks.put(caller, { org, id }, body);
    return { status: isNew ? 201 : 200, body: shown };
  });
  bind(operations.getWebhook, async ({ params: { org, wid: id } }) => ({
    status: 200,
    body: await hooks.get({ org, id }),
  }));
  bind(operations.listWebhooks, async ({ params: { org }, query }) => ({
    status: 200,
    body: await hooks.list(org, query),
  }));
  bind(operations.deleteWebhook, async ({ params: { org, wid: id } }) => {
    await hooks.remove({ org, id });
    return { status: 204 };
  });
  bind(operations.rotateWebhook, async ({ caller, params: { org, wid: id } }) => ({
    status: 200,
    body: await hooks.rotate(caller, { org, id }),
  }));
  bind(operations.testWebhook, async ({ params: { org, wid: id } }, call) => ({
    status: 200,
    body: await call().mayIdle(testMayTakeSeconds, () => hooks.test({ org, id })),
  }));
  bind(operations.listWebhookDeliveries, async ({ params: { org, wid: id }, query }) => ({
    status: 200,
    body: await hooks.deliveries({ org, id }, query),
  }));
  bind(operations.redeliverWebhook, async ({ caller, params: { org, wid: id, did } }) => ({
    status: 202,
    body: await hooks.redeliver(caller, { org, id }, did),
  }));
}
