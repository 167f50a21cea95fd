import type { Operations } from "../../contract/operations/all.ts";
import type { ConversationDirectory } from "../../services/directory/conversations.ts";
import type { HistoryReader } from "../../services/messages/history.ts";
import type { Bind } from "../bind.ts";
import { putAnswer } from "./directory.ts";

type Services = { conversations: ConversationDirectory; history: HistoryReader };

/** Binds conversations, their participants and their history. */
export function bindConversations(bind: Bind, operations: Operations, { conversations, history }: Services): void {
  bind(operations.putConversation, async ({ caller, params, body }) =>
    putAnswer(await conversations.put(caller, params.org, params.cid, body)),
  );
  bind(operations.getConversation, async ({ params }) => ({
    status: 200,
    body: await conversations.get(params.org, params.cid),
  }));
  bind(operations.deleteConversation, async ({ params }) => {
    await conversations.remove(params.org, params.cid);
    return { status: 204 };
  });
  bind(operations.listConversations, async ({ params, query }) => ({
    status: 200,
    body: await conversations.list(params.org, query),
  }));
  bind(operations.putParticipant, async ({ caller, params }) =>
    putAnswer(await conversations.addParticipant(caller, params.org, params.cid, params.uid)),
  );
  bind(operations.deleteParticipant, async ({ params }) => {
    await conversations.removeParticipant(params.org, params.cid, params.uid);
    return { status: 204 };
  });
  bind(operations.listParticipants, async ({ params, query }) => ({
    status: 200,
    body: await conversations.listParticipants(params.org, params.cid, query),
  }));
  bind(operations.listMessages, async ({ params, query }) => {
    const { items, cursor } = await history.messages(params.org, params.cid, query);
    return {
      status: 200,
      contentType: "application/json",
      body: `{"items":[${items.join(",")}],"cursor":${JSON.stringify(cursor)}}`,
    };
  });
}
