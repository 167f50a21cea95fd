import { useEffect, useRef, useState } from "preact/hooks";
import type { Proposal, ProposalState } from "../../sdk/types.ts";
import { Confirm } from "../parts/forms/dialog.tsx";
import { AreaField } from "../parts/forms/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { ProposalRow } from "../parts/proposal-row.tsx";
import { Prose } from "../parts/prose.tsx";
import { StateFilter } from "../parts/state-filter.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { docsLink } from "../parts/troubles.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useKeyNames } from "../state/key-names.ts";
import { useAction, usePages } from "../state/loading.ts";

const choices: readonly (readonly [ProposalState, string])[] = [
  ["waiting", "Waiting"],
  ["approved", "Approved"],
  ["rejected", "Rejected"],
  ["failed", "Failed"],
  ["expired", "Expired"],
];

type Asking = { proposal: Proposal; verb: "approve" | "reject" };

/** What keys have proposed to send in the organization, oldest first, with buttons and keys that approve and reject what waits. */
export function Proposals() {
  const { client, can, link, announce } = useConsole();
  const org = useOrganization();
  const [state, setState] = useState<ProposalState>("waiting");
  const [asking, setAsking] = useState<Asking>();
  const [decided, setDecided] = useState<Proposal>();
  const list = usePages(
    (cursor) => client.listProposals(org, { limit: 20, state, ...(cursor !== undefined && { cursor }) }),
    [org, state],
  );
  const keyNames = useKeyNames();
  const { rows, focusNextOf } = useNextFocus(list.value);

  const endOf = ({ id }: Proposal) => {
    focusNextOf(id);
    list.reload();
  };
  const approve = useAction(async (proposal: Proposal) => {
    setDecided(undefined);
    try {
      const approved = await client.approveProposal(org, proposal.id);
      setDecided(approved);
      announce(approved.state === "failed" ? "Approved, but it could not be sent" : "Approved and sent");
    } finally {
      endOf(proposal); // after a refusal, it may have been decided
    }
  });
  const mayDecide = can("message:send") || can("system:send");

  return (
    <>
      <StateFilter state={state} choices={choices} onChange={setState} list={list} />
      {decided?.state === "failed" && <Failed proposal={decided} />}
      {approve.error !== undefined && <Problem error={approve.error} />}
      <Loaded loading={list} what="proposals">
        {(items) =>
          items.length === 0 ? (
            <Empty title={state === "waiting" ? "Nothing waits for a decision" : `No proposal is ${state}`}>
              {decided?.state === "approved" && <Sent proposal={decided} />}
              <p>
                A key with the scope <code>message:propose</code> only proposes what to send.
              </p>
              {can("keys:manage") && (
                <a class="button small" href={link("keys", undefined, { new: "1" })}>
                  New key
                </a>
              )}
              <a href={docsLink("let-an-agent-propose")}>How an agent proposes</a>
            </Empty>
          ) : (
            <>
              {state === "waiting" && mayDecide && (
                <p class="fine">
                  {decided?.state === "approved" && <Sent proposal={decided} />}
                  With a button of a proposal in focus, <kbd>A</kbd> approves it and <kbd>R</kbd> rejects it.
                </p>
              )}
              <ul class="rows" aria-label="Proposals" ref={rows}>
                {items.map((one) => (
                  <li key={one.id} data-id={one.id}>
                    <ProposalRow
                      proposal={one}
                      keyNames={keyNames}
                      isBusy={approve.isBusy || list.isLoading}
                      onApprove={() =>
                        isForEveryone(one) ? setAsking({ proposal: one, verb: "approve" }) : approve.run(one)
                      }
                      onReject={() => setAsking({ proposal: one, verb: "reject" })}
                    />
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
      <More {...list} />
      {asking?.verb === "reject" && (
        <Reject
          proposal={asking.proposal}
          onClose={(hasChanged) => {
            setAsking(undefined);
            if (!hasChanged) return;
            setDecided(undefined);
            endOf(asking.proposal);
          }}
        />
      )}
      {asking?.verb === "approve" && (
        <Confirm
          title={`Send to everyone in ${org}?`}
          verb="Approve and send"
          isBusy={false}
          onConfirm={() => {
            setAsking(undefined);
            approve.run(asking.proposal);
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>All users of the organization are addressed.</p>
        </Confirm>
      )}
    </>
  );
}

function isForEveryone({ request }: Proposal): boolean {
  return request !== null && "messageSystem" in request && request.messageSystem.everyone === true;
}

function Sent({ proposal: { id } }: { proposal: Proposal }) {
  return (
    <>
      <code>{id}</code> was approved and sent.{" "}
    </>
  );
}

function Failed({ proposal: { id, problem } }: { proposal: Proposal }) {
  return (
    <div class="notice bad" role="alert">
      <p class="notice-title">
        <code>{id}</code> was approved, but could not be sent
      </p>
      <p>
        <Prose text={problem?.detail ?? ""} />
      </p>
    </div>
  );
}

/** Gives the focus to the proposal after one that is decided, once the list no longer has that. */
function useNextFocus(items: Proposal[] | undefined) {
  const rows = useRef<HTMLUListElement>(null);
  const decided = useRef<{ id: string; place: number } | undefined>(undefined);
  const buttons = () => [...(rows.current?.querySelectorAll<HTMLElement>("[data-approves]") ?? [])];
  useEffect(() => {
    if (decided.current === undefined || items === undefined) return;
    const { id, place } = decided.current;
    if (items.some((item) => item.id === id)) return;
    const [next] = buttons().slice(place);
    (next ?? buttons().at(-1) ?? document.querySelector<HTMLElement>("h1"))?.focus();
    decided.current = undefined;
  }, [items]);
  return {
    rows,
    focusNextOf(id: string): void {
      const ids = buttons().map((button) => button.closest<HTMLElement>("[data-id]")?.dataset.id);
      decided.current = { id, place: Math.max(0, ids.indexOf(id)) };
    },
  };
}

type RejectProps = { proposal: Proposal; onClose: (hasChanged: boolean) => void };

function Reject({ proposal, onClose }: RejectProps) {
  const { client, announce } = useConsole();
  const org = useOrganization();
  const [reason, setReason] = useState("");
  const reject = useAction(async () => {
    await client.rejectProposal(org, proposal.id, reason === "" ? {} : { reason });
    announce("Rejected");
    onClose(true);
  });
  return (
    <Confirm
      title="Reject this proposal?"
      verb="Reject"
      isBusy={reject.isBusy}
      onConfirm={() => reject.run()}
      onClose={() => onClose(reject.error !== undefined)} // after a refusal, it may have been decided
    >
      <p>
        Once it is rejected, it is never sent. Whoever proposed <code>{proposal.id}</code> sees the reason.
      </p>
      <AreaField label="Reason" isOptional value={reason} onChange={setReason} />
      {reject.error !== undefined && <Problem error={reject.error} />}
    </Confirm>
  );
}
