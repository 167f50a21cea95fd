import { useState } from "preact/hooks";
import type { AuditEntry, AuditFilter } from "../../sdk/types.ts";
import { Badge } from "../parts/badge.tsx";
import { Fact, Facts } from "../parts/facts.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/field.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { useConsole } from "../state/context.ts";
import { usePages } from "../state/loading.ts";
import { routeTo } from "../state/route.ts";
import { basePath } from "../state/server.ts";

const results = [
  ["", "Any"],
  ["done", "Done"],
  ["refused", "Refused"],
  ["failed", "Failed"],
] as const;

const tones = { done: "ok", refused: "warn", failed: "bad" } as const;

type Asked = { organization: string; key: string; operation: string; result: string; since: string };

/** The audit log. The filter is part of the address, so that it can be bookmarked and shared. */
export function Audit() {
  const { client, route, me, org } = useConsole();
  const { organization = "", key = "", operation = "", result = "", since = "" } = route.query;
  const asked: Asked = { organization, key, operation, result, since };
  const list = usePages(
    (cursor) => client.listAudit({ ...filterOf(asked), limit: 50, ...(cursor !== undefined && { cursor }) }),
    [JSON.stringify(asked)],
  );
  return (
    <>
      <AuditFilters
        key={JSON.stringify(asked)}
        asked={asked}
        onAsk={(next) => {
          const query = { ...next, org: me.organization === null ? org : undefined };
          location.hash = routeTo("audit", undefined, query);
        }}
      />
      <Loaded loading={list} what="the audit log">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No matching entries">
              The audit log contains changes, reads of history and refused calls. It omits sends, because each message
              records the key that sent it.
            </Empty>
          ) : (
            <>
              <ol class="rows" aria-label="Entries, newest first">
                {items.map((entry) => (
                  <li key={entry.id}>
                    <Entry entry={entry} />
                  </li>
                ))}
              </ol>
              <More {...list} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** The filter without empty members. Times are in the reader's time zone. */
function filterOf({ organization, key, operation, result, since }: Asked): AuditFilter {
  const time = since === "" ? undefined : new Date(since);
  return {
    ...(organization !== "" && { organization }),
    ...(key !== "" && { key }),
    ...(operation !== "" && { operation }),
    ...((result === "done" || result === "refused" || result === "failed") && { result }),
    ...(time !== undefined && !Number.isNaN(time.getTime()) && { since: time.toISOString() }),
  };
}

function AuditFilters({ asked, onAsk }: { asked: Asked; onAsk: (asked: Asked) => void }) {
  const { me } = useConsole();
  const [typed, setTyped] = useState(asked);
  const change = (part: Partial<Asked>) => setTyped((before) => ({ ...before, ...part }));
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(typed);
      }}
    >
      {me.organization === null && (
        <TextField
          label="Organization"
          value={typed.organization}
          onChange={(organization) => change({ organization })}
          isId
        />
      )}
      <TextField label="Key id" value={typed.key} onChange={(key) => change({ key })} isId />
      <TextField label="Operation" value={typed.operation} onChange={(operation) => change({ operation })} isId />
      <ChoiceField label="Result" value={typed.result} options={results} onChange={(result) => change({ result })} />
      <Field label="Since">
        {(control) => (
          <input
            {...control}
            type="datetime-local"
            value={typed.since}
            onInput={({ currentTarget }) => change({ since: currentTarget.value })}
          />
        )}
      </Field>
      <button type="submit">Filter</button>
    </form>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { created_at, operation, result, status, code, key_id, address, target, request_id, omitted } = entry;
  const named = Object.entries(target).filter(([, id]) => id !== undefined);
  return (
    <article class="entry">
      <div class="entry-head">
        <strong class="mono">{operation}</strong>
        <Badge tone={tones[result]}>
          {result} {status}
        </Badge>
        {code !== null && <a href={`${basePath}/docs/errors#${code}`}>{code}</a>}
        <span class="spacer" />
        <span class="fine">
          <Time at={created_at} />
        </span>
      </div>
      <Facts>
        {named.map(([what, id]) => (
          <Fact key={what} name={what} isMono>
            {id}
          </Fact>
        ))}
        <Fact name="by key" isMono>
          {key_id ?? "none"}
        </Fact>
        <Fact name="from" isMono>
          {address ?? "unknown"}
        </Fact>
        <Fact name="request" isMono>
          {request_id}
        </Fact>
      </Facts>
      {omitted > 0 && <p class="fine">{omitted} refused or failed calls before this one were not logged.</p>}
    </article>
  );
}
