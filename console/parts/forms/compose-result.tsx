import { useEffect } from "preact/hooks";
import type { Kind } from "../../state/composing/draft.ts";
import { useConsole } from "../../state/context.ts";
import { Badge } from "../badge.tsx";
import { Fact, Facts } from "../facts.tsx";
import { DeliveryReport } from "../reports/delivery-report.tsx";

/** The result of a dry run. */
export type DryRun = { recipients: number; online: number; unknown_users: string[] };

/** An accepted send. `server_mid` is present for messages. */
export type Sent = {
  kind: Kind;
  senderId: string;
  answer: { mid: string; server_mid?: string; t: number };
  sentAt: string;
};

/** Shows the result of a dry run. */
export function DryRunResult({ dryRun, addressed, kind }: { dryRun: DryRun; addressed: number; kind: Kind }) {
  const { announce } = useConsole();
  const { recipients, online, unknown_users } = dryRun;
  useEffect(() => announce(`Dry run: ${recipients} recipients, ${online} online`), []);
  return (
    <section class="card stack" aria-label="Dry run">
      <h2>
        Dry run <Badge tone="accent">nothing was sent</Badge>
      </h2>
      <Facts>
        <Fact name="Recipients">{recipients}</Fact>
        <Fact name="Online now">{online}</Fact>
        {kind === "system_message" && <Fact name="Ids given">{addressed}</Fact>}
      </Facts>
      {unknown_users.length > 0 && (
        <p>
          Not users of the organization: {unknown_users.slice(0, 20).join(", ")}
          {unknown_users.length > 20 && ` and ${unknown_users.length - 20} more`}.
        </p>
      )}
      {online === 0 && <p>Nobody would receive it now.</p>}
    </section>
  );
}

/** The response to a send, and who has received it so far. */
export function SentResult({ sent }: { sent: Sent }) {
  const { announce } = useConsole();
  const { kind, senderId, answer } = sent;
  useEffect(() => announce("Stored"), []);
  return (
    <section class="card stack" aria-label="Sent">
      <h2>
        {kind === "message" ? "Message" : "System message"} <Badge tone="ok">stored</Badge>
      </h2>
      <Facts>
        {answer.server_mid !== undefined && (
          <Fact name="server_mid" isMono>
            {answer.server_mid}
          </Fact>
        )}
        <Fact name="mid" isMono>
          {answer.mid}
        </Fact>
        <Fact name="t" isMono>
          {answer.t}
        </Fact>
      </Facts>
      <DeliveryReport
        sent={kind === "message" ? { kind, id: answer.server_mid ?? answer.mid } : { kind, id: answer.mid, senderId }}
      />
    </section>
  );
}
