import type { Operations } from "../../contract/operations/all.ts";
import type { Proposals } from "../../services/proposals/proposals.ts";
import { answerShowing } from "../answers/plain-answers.ts";
import type { Bind } from "../bind.ts";

/** Binds the sends that another key has to approve. */
export function bindProposals(bind: Bind, operations: Operations, { proposals }: { proposals: Proposals }): void {
  bind(operations.putProposal, async ({ caller, params: { org, pid: id }, body }) => {
    const { shown, isNew } = await proposals.put(caller, { org, id }, body);
    return { status: isNew ? 201 : 200, body: shown };
  });
  bind(operations.getProposal, ({ caller, params: { org, pid: id } }) =>
    answerShowing(proposals.get(caller, { org, id })),
  );
  bind(operations.approveProposal, async ({ caller, params: { org, pid: id }, body }) => {
    const { shown, target } = await proposals.approve(caller, { org, id }, body.reason);
    return { status: 200, body: shown, target };
  });
  bind(operations.rejectProposal, async ({ caller, params: { org, pid: id }, body }) => {
    const { shown, target } = await proposals.reject(caller, { org, id }, body.reason);
    return { status: 200, body: shown, target };
  });
  bind(operations.listProposals, ({ caller, params, query }) =>
    answerShowing(proposals.list(caller, params.org, query)),
  );
}
