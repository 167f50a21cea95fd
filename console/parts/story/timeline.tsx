import type { ComponentChildren } from "preact";
import { useConsole } from "../../state/context.ts";
import type { Step } from "../../state/story/step.ts";
import { Badge } from "../badge.tsx";
import { Time } from "../time.tsx";

const badges = {
  sent: ["accent", "sent"],
  delivered: ["ok", "delivered"],
  acknowledged: ["ok", "acknowledged"],
  grown: ["accent", "grown"],
  edited: ["warn", "edited"],
  reaction: ["plain", "reaction"],
  read: ["ok", "read"],
  seen: ["plain", "seen"],
  recalled: ["bad", "taken back"],
  expired: ["bad", "expired"],
  hook: ["plain", "webhook"],
  try: ["plain", "webhook"],
  audit: ["plain", "audit"],
} as const;

const mostUsers = 10;

/** What happened to a message, the first thing first. */
export function Timeline({ steps, keyNames }: { steps: readonly Step[]; keyNames: ReadonlyMap<string, string> }) {
  return (
    <ol class="timeline" aria-label="What happened, the first thing first">
      {steps.map((step, place) => (
        <li key={`${place} ${step.kind}`}>
          <span class="timeline-time">
            <Moment at={step.at} />
            {step.until !== undefined && (
              <>
                {" – "}
                <Moment at={step.until} />
              </>
            )}
          </span>
          <p>
            <StepBadge step={step} /> <What step={step} names={keyNames} />
          </p>
        </li>
      ))}
    </ol>
  );
}

/** Exact, unless only the second is known, as of a system message that is not kept. */
function Moment({ at }: { at: string }) {
  return <Time at={at} isExact={!at.endsWith(".000Z")} />;
}

function StepBadge({ step }: { step: Step }) {
  const [tone, name] = badges[step.kind];
  return <Badge tone={step.isBad === true ? "bad" : tone}>{name}</Badge>;
}

type StepProps = { step: Step; names: ReadonlyMap<string, string> };

function What({ step, names }: StepProps) {
  const { kind, uids, count, keys, details, webhook, nextAt } = step;
  return (
    <>
      {webhook !== undefined && <WebhookName id={webhook} />}
      {kind === "audit" && (count === 1 ? "" : `${count} calls: `)}
      {kind === "audit" && <span class="mono">{details.join(", ")}</span>}
      <Users uids={uids} count={count} kind={kind} />
      {keys.map((key) => (
        <span key={key}>
          {" with "}
          <Key id={key} names={names} />
        </span>
      ))}
      {kind !== "audit" && details.length > 0 && ` ${uids.length + keys.length > 0 ? "· " : ""}${details.join(", ")}`}
      {kind === "grown" && ` · ${count === 1 ? "1 piece" : `${count} pieces`}`}
      {nextAt !== undefined && (
        <>
          {" · next try "}
          <Time at={nextAt} />
        </>
      )}
    </>
  );
}

const prepositions: Partial<Record<Step["kind"], string>> = { delivered: "to ", sent: "by ", hook: "", try: "" };

function Users({ uids, count, kind }: Pick<Step, "uids" | "count" | "kind">) {
  const before = prepositions[kind] ?? "by ";
  if (uids.length === 0) return kind === "delivered" ? <>to {count.toLocaleString("en-GB")} users</> : null;
  const rest = uids.length - mostUsers;
  return (
    <>
      {before}
      {uids.slice(0, mostUsers).map((uid, place) => (
        <span key={uid}>
          {place > 0 && ", "}
          <PageLink page="users" id={uid} scope="directory:read">
            {uid}
          </PageLink>
        </span>
      ))}
      {rest > 0 && ` and ${rest} more`}
    </>
  );
}

function Key({ id, names }: { id: string | null; names: StepProps["names"] }) {
  if (id === null) return <>no valid key</>;
  if (id === "bootstrap") return <>the bootstrap key</>;
  const name = names.get(id);
  return (
    <>
      key{" "}
      <PageLink page="keys" id={id} scope="keys:manage">
        {name ?? <code>{id}</code>}
      </PageLink>
    </>
  );
}

function WebhookName({ id }: { id: string }) {
  return (
    <>
      <PageLink page="webhooks" id={id} scope="webhooks:manage">
        {id}
      </PageLink>{" "}
    </>
  );
}

type PageLinkProps = {
  page: "users" | "keys" | "webhooks";
  id: string;
  scope: "directory:read" | "keys:manage" | "webhooks:manage";
  children: ComponentChildren;
};

function PageLink({ page, id, scope, children }: PageLinkProps) {
  const { can, link } = useConsole();
  return can(scope) ? <a href={link(page, id)}>{children}</a> : children;
}
