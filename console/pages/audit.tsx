import { useState } from "preact/hooks";
import type { AuditFilter } from "../../sdk/types.ts";
import { Entry } from "../parts/audit-entry.tsx";
import { ChoiceField, Field, TextField } from "../parts/forms/field.tsx";
import { LongList } from "../parts/long-list.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import { useConsole } from "../state/context.ts";
import { useKeyNames } from "../state/key-names.ts";
import { usePages } from "../state/loading.ts";
import { routeTo } from "../state/route.ts";

const results = [
  ["", "Any"],
  ["done", "Done"],
  ["refused", "Refused"],
  ["no_key", "No valid key"],
  ["failed", "Failed"],
] as const;

const rowHeight = 40;

type Asked = { organization: string; key: string; operation: string; result: string; since: string };

/** The audit log. The filter is part of the address, so that it can be bookmarked and shared. */
export function Audit() {
  const { client, route, me, org } = useConsole();
  const { organization = "", key = "", operation = "", result = "", since = "" } = route.query;
  const asked: Asked = { organization, key, operation, result, since };
  const list = usePages(
    (cursor, limit) => client.listAudit({ ...filterOf(asked), limit, ...(cursor !== undefined && { cursor }) }),
    [JSON.stringify(asked)],
    { name: "audit", size: 100 },
  );
  const keyNames = useKeyNames();
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
      {result === "no_key" ? (
        <p class="fine">
          Herald does not keep which key such calls name, since anybody can name one: it may be revoked, expired or
          invented. Their addresses are kept.
        </p>
      ) : (
        key !== "" && (
          <p class="fine">
            Not recorded here: what a key sends, since each message says which key sent it, and reads of users and of
            other lists.
          </p>
        )
      )}
      <Loaded loading={list} what="the audit log">
        {(items) =>
          items.length === 0 ? (
            <Empty title="No matching entries">
              The audit log contains changes, reads of history and refused calls. It omits sends, because each message
              records the key that sent it.
            </Empty>
          ) : (
            <>
              <LongList
                label="Entries, newest first"
                items={items}
                hasMore={list.hasMore}
                rowHeight={rowHeight}
                onEnd={list.more}
              >
                {(entry) => <Entry entry={entry} keyNames={keyNames} />}
              </LongList>
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
    ...(result === "no_key" && { result: "refused", status: 401 }),
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
