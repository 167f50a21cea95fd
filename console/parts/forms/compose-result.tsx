import { useEffect } from "preact/hooks";
import type { ScheduledSend } from "../../../sdk/types.ts";
import type { Accepted, DryRun, Sent } from "../../state/composing/submission.ts";
import { useConsole } from "../../state/context.ts";
import { Badge } from "../badge.tsx";
import { Fact, Facts } from "../facts.tsx";
import { MessageLink } from "../message-link.tsx";
import { DeliveryReport } from "../reports/delivery-report.tsx";
import { Time } from "../time.tsx";

/** Shows the result of a dry run. `addressed` is the number of users that were listed, if any. */
export function DryRunResult({ dryRun, addressed }: { dryRun: DryRun; addressed: number | undefined }) {
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
        {addressed !== undefined && <Fact name="Ids given">{addressed}</Fact>}
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

/** What the server has accepted. Each send has a result of its own, with a report that starts anew. */
export function AcceptedResult({ accepted }: { accepted: Accepted }) {
  if ("scheduled" in accepted) return <ScheduledResult key={accepted.scheduled.id} scheduled={accepted.scheduled} />;
  const { answer, sentAt } = accepted.sent;
  return <SentResult key={answer.server_mid ?? `${answer.mid} ${sentAt}`} sent={accepted.sent} />;
}

function ScheduledResult({ scheduled }: { scheduled: ScheduledSend }) {
  const { announce, can, link } = useConsole();
  const { id, send_at } = scheduled;
  useEffect(() => announce("Scheduled"), []);
  return (
    <section class="card stack" aria-label="Scheduled">
      <h2>
        Send <Badge tone="ok">scheduled</Badge>
      </h2>
      <Facts>
        <Fact name="Time">
          <Time at={send_at} />
        </Fact>
        <Fact name="id" isMono>
          {id}
        </Fact>
      </Facts>
      {can("history:read") && (
        <p>
          <a href={link("scheduled")}>See what waits, and cancel it</a>
        </p>
      )}
    </section>
  );
}

function SentResult({ sent }: { sent: Sent }) {
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
            <MessageLink kind="message" id={answer.server_mid}>
              {answer.server_mid}
            </MessageLink>
          </Fact>
        )}
        <Fact name="mid" isMono>
          {kind === "message" ? (
            answer.mid
          ) : (
            <MessageLink kind={kind} id={answer.mid} from={senderId}>
              {answer.mid}
            </MessageLink>
          )}
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
