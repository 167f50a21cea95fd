import { useConsole } from "../../state/context.ts";
import type { Report, SentId } from "../../state/delivery.ts";
import { Badge } from "../badge.tsx";
import { AttachedFiles } from "../conversation/attached-files.tsx";
import { Manner } from "../manner.tsx";
import { Time } from "../time.tsx";

/** What a message is: by whom, where, how, and what it says, unless that is gone. */
export function About({ sent, report }: { sent: SentId; report: Report }) {
  const { link, can } = useConsole();
  const { said, recalled_at, expired_at } = report;
  const { from, cid, x = {} } = said;
  const mayRead = can("directory:read");
  const body = "body" in said ? (said.body ?? "") : "";
  const attachments = "attachments" in said ? (said.attachments ?? []) : [];
  return (
    <>
      <p class="lead">
        {sent.kind === "message" ? "Message" : "System message"} of{" "}
        {mayRead ? <a href={link("users", from)}>{from}</a> : from}
        {cid !== undefined && <> to {mayRead ? <a href={link("conversations", cid)}>{cid}</a> : cid}</>},{" "}
        <Time at={said.created_at ?? new Date(said.t * 1_000).toISOString()} />
        <Manner of={said} /> {"open" in said && said.open && <Badge tone="ok">being written</Badge>}{" "}
        {recalled_at !== undefined && <Badge tone="bad">taken back</Badge>}
        {expired_at !== undefined && <Badge tone="bad">expired</Badge>}
      </p>
      {body !== "" && <p class="said-body card">{body}</p>}
      {attachments.length > 0 && <AttachedFiles attachments={attachments} />}
      {Object.keys(x).length > 0 && <pre class="code">{JSON.stringify(x, undefined, 2)}</pre>}
    </>
  );
}
