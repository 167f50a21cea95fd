import { useState } from "preact/hooks";
import type { ScheduledSend, ScheduledState } from "../../sdk/types.ts";
import { Confirm } from "../parts/forms/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { ScheduledRow } from "../parts/scheduled-row.tsx";
import { StateFilter } from "../parts/state-filter.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { useAction, usePages } from "../state/loading.ts";

const choices: readonly (readonly [ScheduledState, string])[] = [
  ["waiting", "Waiting"],
  ["sent", "Sent"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
];

/** What is scheduled in the organization, by time, with a button that cancels what waits. */
export function Scheduled() {
  const { client, can, link, route } = useConsole();
  const org = useOrganization();
  const [state, setState] = useState<ScheduledState>(
    choices.find(([one]) => one === route.query.state)?.[0] ?? "waiting",
  );
  const [cancelling, setCancelling] = useState<ScheduledSend>();
  const list = usePages(
    (cursor) => client.listScheduled(org, { limit: 50, state, ...(cursor !== undefined && { cursor }) }),
    [org, state],
  );
  return (
    <>
      <StateFilter state={state} choices={choices} onChange={setState} list={list} />
      <Loaded loading={list} what="scheduled sends">
        {(items) =>
          items.length === 0 ? (
            <Empty title={state === "waiting" ? "Nothing is scheduled" : `Nothing is ${state}`}>
              <p>What is to be sent later waits here, and can be cancelled until it is due.</p>
              {(can("message:send") || can("system:send")) && (
                <a class="button small" href={link("compose", undefined, { when: "later" })}>
                  Schedule a send
                </a>
              )}
            </Empty>
          ) : (
            <ul class="rows" aria-label="Scheduled sends">
              {items.map((one) => (
                <li key={one.id}>
                  <ScheduledRow scheduled={one} onCancel={() => setCancelling(one)} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <More {...list} />
      {cancelling !== undefined && (
        <Cancel
          scheduled={cancelling}
          onClose={(hasChanged) => {
            setCancelling(undefined);
            if (hasChanged) list.reload();
          }}
        />
      )}
    </>
  );
}

type CancelProps = { scheduled: ScheduledSend; onClose: (hasChanged: boolean) => void };

function Cancel({ scheduled, onClose }: CancelProps) {
  const { client, announce } = useConsole();
  const org = useOrganization();
  const cancel = useAction(async () => {
    await client.cancelScheduled(org, scheduled.id);
    announce("Cancelled");
    onClose(true);
  });
  return (
    <Confirm
      title="Cancel this send?"
      verb="Cancel the send"
      isBusy={cancel.isBusy}
      onConfirm={() => cancel.run()}
      onClose={() => onClose(cancel.error !== undefined)} // after a refusal, it may have been sent
    >
      <p>
        It waits until <Time at={scheduled.send_at} />. Once it is cancelled, it is never sent.
      </p>
      {cancel.error !== undefined && <Problem error={cancel.error} />}
    </Confirm>
  );
}
