import type { Operations } from "../../contract/operations/all.ts";
import type { ConversationDirectory } from "../../services/directory/conversations.ts";
import type { HistoryReader } from "../../services/messages/history.ts";
import { answerDone, answerPut, answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

type Services = { conversations: ConversationDirectory; history: HistoryReader };

/** Binds conversations, their participants and their history. */
export function bindConversations(bind: Bind, operations: Operations, { conversations, history }: Services): void {
  bind(operations.putConversation, ({ caller, params, body }) =>
    answerPut(conversations.put(caller, params.org, params.cid, body)),
  );
  bind(operations.getConversation, ({ params }) => answerShowing(conversations.get(params.org, params.cid)));
  bind(operations.deleteConversation, ({ params }) => answerDone(conversations.remove(params.org, params.cid)));
  bind(operations.listConversations, ({ params, query }) => answerShowing(conversations.list(params.org, query)));
  bind(operations.putParticipant, ({ caller, params }) =>
    answerPut(conversations.addParticipant(caller, params.org, params.cid, params.uid)),
  );
  bind(operations.deleteParticipant, ({ params }) =>
    answerDone(conversations.removeParticipant(params.org, params.cid, params.uid)),
  );
  bind(operations.listParticipants, ({ params, query }) =>
    answerShowing(conversations.listParticipants(params.org, params.cid, query)),
  );
  bind(operations.listMessages, async ({ params, query }) => {
    const { items, cursor } = await history.messages(params.org, params.cid, query);
    return {
      status: 200,
      contentType: "application/json",
      body: `{"items":[${items.join(",")}],"cursor":${JSON.stringify(cursor)}}`,
    };
  });
}
