import type { Operations } from "../../contract/operations/all.ts";
import type { DeliveryReports } from "../../services/delivery/delivery-reports.ts";
import type { Recipients } from "../../services/delivery/recipients.ts";
import type { UserDeliveries } from "../../services/delivery/user-deliveries.ts";
import type { Inboxes } from "../../services/messages/inboxes.ts";
import { answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

type Services = {
  deliveryReports: DeliveryReports;
  recipients: Recipients;
  userDeliveries: UserDeliveries;
  inboxes: Pick<Inboxes, "page">;
};

/** Binds the delivery reports, the lists of recipients, and the inboxes and deliveries of users. */
export function bindDelivery(
  bind: Bind,
  operations: Operations,
  { deliveryReports: reports, recipients, userDeliveries, inboxes }: Services,
): void {
  bind(operations.getMessage, async ({ params }) => {
    const body = await reports.message(params.org, params.server_mid);
    return { status: 200, body, target: { conversation: body.message.cid } };
  });
  bind(operations.getSystemMessage, async ({ params, query }) => {
    const body = await reports.systemMessage(params.org, params.mid, query.senderId);
    return { status: 200, body, target: { sender: body.system_message.from } };
  });
  bind(operations.listInbox, ({ params, query }) => answerShowing(inboxes.page(params.org, params.uid, query)));
  bind(operations.listDeliveries, ({ params, query }, call) =>
    answerShowing(userDeliveries.page(params.org, params.uid, query, call().pay)),
  );
  bind(operations.listRecipients, async ({ params, query }, call) => {
    const { page, cid } = await recipients.message(params.org, params.server_mid, query, call().pay);
    return { status: 200, body: page, target: { conversation: cid } };
  });
  bind(operations.listSystemRecipients, async ({ params, query }, call) => {
    const { page, sender } = await recipients.systemMessage(params.org, params.mid, query, call().pay);
    return { status: 200, body: page, target: { sender } };
  });
}
