import { useEffect, useState } from "preact/hooks";
import type { PageOptions, RecipientState } from "../../../sdk/types.ts";
import { useConsole, useOrganization } from "../../state/context.ts";
import type { Report, SentId } from "../../state/delivery.ts";
import { usePages } from "../../state/loading.ts";
import { Badge } from "../badge.tsx";
import { ChoiceField } from "../forms/field.tsx";
import { Loaded, More } from "../states.tsx";
import { Time } from "../time.tsx";
import { Why } from "./why.tsx";

/** Users whose names are known. */
export type Names = readonly { id: string; name: string | null }[];

/** The tone of the badge of each state. */
export const stateTones = { delivered: "ok", acknowledged: "accent", missing: "plain" } as const;
const choices = [
  ["", "Everyone it was sent to"],
  ["missing", "Who does not have it"],
  ["delivered", "Who has it, unacknowledged"],
  ["acknowledged", "Who has acknowledged it"],
] as const;

type RecipientsProps = { sent: SentId; names: Names; report: Report };

/** Each recipient of a send, with its state. Reads the list again when the numbers of its report change. */
export function Recipients({ sent, names, report }: RecipientsProps) {
  const { client } = useConsole();
  const org = useOrganization();
  const [state, setState] = useState<"" | RecipientState>("");
  const list = usePages(
    (cursor) => {
      const page: PageOptions & { state?: RecipientState } = {
        limit: 50,
        ...(state !== "" && { state }),
        ...(cursor !== undefined && { cursor }),
      };
      if (sent.kind === "message") return client.listRecipients(org, sent.id, page);
      const { senderId } = sent;
      return client.listSystemRecipients(org, sent.id, { ...page, ...(senderId !== undefined && { senderId }) });
    },
    [org, sent.kind, sent.id, state],
  );
  const turn = `${report.delivered_users} ${report.acknowledged_users}`;
  const [readAt, setReadAt] = useState(turn);
  useEffect(() => {
    if (turn === readAt) return;
    setReadAt(turn);
    list.reload();
  }, [turn]);
  const nameOf = new Map(names.map(({ id, name }) => [id, name]));
  return (
    <>
      <ChoiceField label="Recipients" value={state} options={choices} onChange={setState} />
      <Loaded loading={list} what="the recipients">
        {(items) =>
          items.length === 0 ? (
            <p class="fine">Nobody.</p>
          ) : (
            <ul class="recipients" aria-label="Each recipient">
              {items.map(({ uid, state, delivered_at, acknowledged_at }) => {
                const at = acknowledged_at ?? delivered_at;
                return (
                  <li key={uid}>
                    <span>
                      {nameOf.get(uid) ?? ""} <span class="mono">{uid}</span>
                    </span>
                    <span class="fine">{at !== null && <Time at={at} isExact />}</span>
                    <Badge tone={stateTones[state]}>{state}</Badge>
                    {state === "missing" && <Why uid={uid} sent={sent} report={report} />}
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
      <More {...list} />
    </>
  );
}
