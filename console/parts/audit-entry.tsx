import type { ComponentChildren } from "preact";
import type { AuditEntry } from "../../sdk/types.ts";
import { useConsole } from "../state/context.ts";
import { routeTo } from "../state/route.ts";
import { basePath } from "../state/server.ts";
import { Badge } from "./badge.tsx";
import { Fact, Facts } from "./facts.tsx";
import { MessageLink } from "./message-link.tsx";
import { Time } from "./time.tsx";

const tones = { done: "ok", refused: "warn", failed: "bad" } as const;

type Props = { entry: AuditEntry; keyNames: ReadonlyMap<string, string> };

/** An entry of the audit log in one line: when, what, of whom, from which address and by which key. The rest is folded. */
export function Entry({ entry, keyNames }: Props) {
  const { created_at, operation, result, status, code, key_id, person, address, target, request_id, omitted } = entry;
  const { organization, ...named } = target;
  const targets = Object.entries(named).filter(([, id]) => id !== undefined);
  return (
    <article class="audit-entry">
      <span class="fine">
        <Time at={created_at} />
      </span>
      <strong class="mono">{operation}</strong>
      <span class="audit-about">
        {result !== "done" && (
          <Badge tone={tones[result]}>
            {result} {status}
          </Badge>
        )}
        {code !== null && <a href={`${basePath}/docs/errors#${code}`}>{code}</a>}
        {(targets.length === 0 && organization !== undefined ? [["organization", organization] as const] : targets).map(
          ([what, id]) => (
            <span key={what}>
              <span class="quiet">{what}</span> <Target entry={entry} what={what} id={id} keyNames={keyNames} />
            </span>
          ),
        )}
      </span>
      <details>
        <summary>
          {address !== null && <span class="audit-from">from {address}, </span>}by{" "}
          <strong>{person ?? (key_id === null ? "nobody" : (keyNames.get(key_id) ?? key_id))}</strong>
        </summary>
        <Facts>
          {organization !== undefined && (
            <Fact name="organization" isMono>
              <Target entry={entry} what="organization" id={organization} keyNames={keyNames} />
            </Fact>
          )}
          <Fact name="key" isMono>
            {key_id === null ? "none" : <Target entry={entry} what="key" id={key_id} keyNames={new Map()} />}
          </Fact>
          <Fact name="from" isMono>
            {address ?? "unknown"}
          </Fact>
          <Fact name="status" isMono>
            {status}
          </Fact>
          <Fact name="request" isMono>
            {request_id}
          </Fact>
        </Facts>
      </details>
      {omitted > 0 && <p class="fine">{omitted} refused or failed calls before this one were not logged.</p>}
    </article>
  );
}

const pages: Readonly<Record<string, string>> = {
  user: "users",
  sender: "users",
  conversation: "conversations",
  webhook: "webhooks",
};

type TargetProps = Props & { what: string; id: string | readonly string[] | undefined };

/** What an entry names, with a link to its page if it has one. */
function Target({ entry, what, id = "", keyNames }: TargetProps): ComponentChildren {
  const { can } = useConsole();
  const { operation, organization, target } = entry;
  if (what === "message" || what === "messages") {
    const kind = operation.includes("System") ? "system_message" : "message";
    return [id].flat().map((one, place) => (
      <span key={one}>
        {place > 0 && ", "}
        <MessageLink kind={kind} id={one} from={target.sender} organization={organization ?? undefined}>
          <span class="mono">{one}</span>
        </MessageLink>
      </span>
    ));
  }
  const one = String(id);
  const org = organization ?? undefined;
  const page = pages[what];
  if (page !== undefined && org !== undefined) return <PageLink href={routeTo(page, one, { org })}>{one}</PageLink>;
  if (what === "organization") return <PageLink href={routeTo("organizations", one, { org: one })}>{one}</PageLink>;
  if ((what === "key" || what === "proposer") && can("keys:manage") && isKey(one))
    return <PageLink href={routeTo("keys", one)}>{keyNames.get(one) ?? one}</PageLink>;
  return <span class="mono">{one}</span>;
}

/** Whether an id is that of a key with a page, and stands neither for the bootstrap key nor for a person or a workload. */
function isKey(id: string): boolean {
  return id !== "bootstrap" && !id.startsWith("oidc:");
}

function PageLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="mono" href={href}>
      {children}
    </a>
  );
}
