import { useEffect, useState } from "preact/hooks";
import { useConsole, useOrganization } from "../../state/context.ts";
import {
  type Report as DeliverySoFar,
  type Following,
  outlookOf,
  type SentId,
  useDelivery,
} from "../../state/delivery.ts";
import { Badge } from "../badge.tsx";
import { Fact, Facts } from "../facts.tsx";
import { Problem } from "../problem.tsx";
import { NotAllowed, Waiting } from "../states.tsx";
import { Time } from "../time.tsx";
import { type Names, Recipients } from "./recipients.tsx";
import { Why, WhyAnother } from "./why.tsx";

/** The delivery report, which updates while it is shown, and the recipients one by one. */
export function DeliveryReport({ sent, names = [] }: { sent: SentId; names?: Names }) {
  const { can } = useConsole();
  if (!can("history:read")) return <NotAllowed what="who received it" scope="history:read" />;
  return <Followed sent={sent} names={names} />;
}

function Followed({ sent, names }: { sent: SentId; names: Names }) {
  const org = useOrganization();
  const following = useDelivery(org, sent);
  return <FollowedReport sent={sent} names={names} following={following} />;
}

type FollowedProps = { sent: SentId; names?: Names; following: Following };

/** A delivery report that the page itself follows. */
export function FollowedReport({ sent, names = [], following }: FollowedProps) {
  const { announce } = useConsole();
  const { delivery, error, isFollowing, again } = following;
  const told = delivery && `${delivery.delivered_users} of ${delivery.recipients}`;
  useEffect(() => {
    if (delivery !== undefined && !isFollowing) announce(`Delivered to ${told} users`);
  }, [told, isFollowing]);
  return (
    <section class="report" aria-label="Delivery">
      {error !== undefined && <Problem error={error} retry={again} />}
      {delivery === undefined ? (
        error === undefined && <Waiting what="the delivery report" />
      ) : (
        <>
          <p class="delivered">
            <strong>{told}</strong> {delivery.recipients === 1 ? "user has it" : "users have it"}
            {isFollowing && <span class="pulse">updating</span>}
          </p>
          <progress
            aria-label="Users who have it"
            max={Math.max(delivery.recipients, 1)}
            value={delivery.delivered_users}
          />
          <Numbers delivery={delivery} />
          {delivery.by_user !== undefined && <ByUser sent={sent} users={delivery.by_user} report={delivery} />}
          {delivery.by_user === undefined && delivery.isListed && (
            <Each sent={sent} names={names} delivery={delivery} />
          )}
          {delivery.isListed && <WhyAnother sent={sent} report={delivery} />}
          {!isFollowing && delivery.delivered_users < delivery.recipients && (
            <p class="fine">
              {outlookOf(sent.kind, delivery)}{" "}
              <button type="button" class="link" onClick={again}>
                Refresh
              </button>
            </p>
          )}
        </>
      )}
    </section>
  );
}

function Numbers({ delivery }: { delivery: DeliverySoFar }) {
  const { delivered_connections, acknowledged_users, first_delivered_at, last_delivered_at } = delivery;
  const { acknowledged_before_edit, acknowledged_before_recall, recalled_at, expired_at, superseded_by } = delivery;
  return (
    <Facts>
      <Fact name="Connections">{delivered_connections}</Fact>
      <Fact name="Acknowledged by">{acknowledged_users}</Fact>
      {acknowledged_before_edit !== undefined && <Fact name="Before the edit">{acknowledged_before_edit}</Fact>}
      {acknowledged_before_recall !== undefined && <Fact name="Before the recall">{acknowledged_before_recall}</Fact>}
      <Fact name="First">{first_delivered_at === null ? "–" : <Time at={first_delivered_at} isExact />}</Fact>
      <Fact name="Last">{last_delivered_at === null ? "–" : <Time at={last_delivered_at} isExact />}</Fact>
      {recalled_at !== undefined && (
        <Fact name="Taken back">
          <Time at={recalled_at} isExact />
        </Fact>
      )}
      {expired_at !== undefined && (
        <Fact name="Expired">
          <Time at={expired_at} isExact />
        </Fact>
      )}
      {superseded_by !== undefined && (
        <Fact name="Superseded by" isMono>
          {superseded_by}
        </Fact>
      )}
    </Facts>
  );
}

function Each({ sent, names, delivery }: { sent: SentId; names: Names; delivery: DeliverySoFar }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Each recipient</summary>
      {isOpen && (
        <div class="stack">
          <Recipients sent={sent} names={names} report={delivery} />
        </div>
      )}
    </details>
  );
}

const tones = { delivered: "ok", offline: "plain", unknown: "warn" } as const;
const mostShown = 100;

type ByUserProps = { sent: SentId; users: NonNullable<DeliverySoFar["by_user"]>; report: DeliverySoFar };

function ByUser({ sent, users, report }: ByUserProps) {
  const all = Object.entries(users);
  return (
    <>
      <ul class="chips" aria-label="Each user">
        {all.slice(0, mostShown).map(([uid, state]) => (
          <li key={uid}>
            <span class="mono">{uid}</span> <Badge tone={tones[state]}>{state}</Badge>
            {state !== "delivered" && <Why uid={uid} sent={sent} report={report} />}
          </li>
        ))}
      </ul>
      {all.length > mostShown && <p class="fine">and {all.length - mostShown} more</p>}
    </>
  );
}
