import type { Operations } from "../../contract/operations/all.ts";
import type { DeliveryReports } from "../../services/delivery/delivery-reports.ts";
import type { Bind } from "../bind.ts";

/** Binds the delivery reports. */
export function bindDelivery(bind: Bind, operations: Operations, reports: DeliveryReports): void {
  bind(operations.getMessage, async ({ params }) => {
    const body = await reports.message(params.org, params.server_mid);
    return { status: 200, body, target: { conversation: body.message.cid } };
  });
  bind(operations.getSystemMessage, async ({ params, query }) => {
    const body = await reports.systemMessage(params.org, params.mid, query.senderId);
    return { status: 200, body, target: { sender: body.system_message.from } };
  });
}
