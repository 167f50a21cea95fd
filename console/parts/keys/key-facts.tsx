import type { ComponentChildren } from "preact";
import type { ApiKey } from "../../../sdk/types.ts";
import { nameScopes } from "../../../src/contract/keys/scopes.ts";
import { useConsole } from "../../state/context.ts";
import { compareTexts } from "../../state/order.ts";
import { Badge } from "../badge.tsx";
import { compareIds, timeColumn } from "../columns.tsx";
import { Fact, Facts } from "../facts.tsx";
import type { Column } from "../table.tsx";
import { Time, TimeOrNever } from "../time.tsx";

/** The columns of a table of keys. */
export function keyColumns(
  hrefOf: (id: string) => string,
  buttonsOf: (apiKey: ApiKey) => ComponentChildren,
): Column<ApiKey>[] {
  return [
    {
      title: "Name",
      width: "minmax(0, 3fr)",
      isHeader: true,
      compare: (left, right) => compareTexts(left.name, right.name),
      cell: (apiKey) => (
        <>
          <a class="row-page" href={hrefOf(apiKey.id)}>
            {apiKey.name}
          </a>{" "}
          <KeyBadges apiKey={apiKey} />
        </>
      ),
    },
    { title: "Id", width: "minmax(0, 2fr)", compare: compareIds, cell: ({ id }) => <span class="mono">{id}</span> },
    { title: "May", width: "minmax(0, 3fr)", isTold: true, cell: rightsOf },
    {
      title: "Organization",
      width: "minmax(0, 2fr)",
      isTold: true,
      compare: (left, right) => compareTexts(left.organization ?? "", right.organization ?? ""),
      cell: ({ organization }) => organization ?? "all",
    },
    timeColumn("Last used", ({ last_used_at }) => last_used_at),
    timeColumn("Expires", ({ expires_at }) => expires_at, { isAhead: true }),
    { title: "Change", width: "8.75rem", isForButtons: true, cell: buttonsOf },
  ];
}

/** What a key may do, and its limits, in one line. */
function rightsOf({ scopes, allowed_senders, cidrs }: ApiKey): string {
  return [
    nameScopes(scopes),
    ...(allowed_senders === null ? [] : [`as ${allowed_senders.join(", ")}`]),
    ...(cidrs === null ? [] : [`from ${cidrs.join(", ")}`]),
  ].join(" · ");
}

/** One key, with all that is known of it. */
export function KeyFacts({ apiKey, children }: { apiKey: ApiKey; children: ComponentChildren }) {
  const { can, link } = useConsole();
  const { id, name, scopes, organization, allowed_senders, cidrs, expires_at, last_used_at, old_secret_expires_at } =
    apiKey;
  return (
    <section class="card" aria-label={name}>
      <div class="key-head">
        <strong>{name}</strong>
        <KeyBadges apiKey={apiKey} />
        <span class="spacer" />
        {children}
      </div>
      <p class="fine">
        <span class="mono">{id}</span>
        {can("observe") && (
          <>
            {" · "}
            <a href={link("audit", undefined, { key: id })}>What it did</a>
          </>
        )}
      </p>
      <Facts>
        <Fact name="May">{nameScopes(scopes)}</Fact>
        <Fact name="Organization">{organization ?? "all"}</Fact>
        {allowed_senders !== null && <Fact name="Sends as">{allowed_senders.join(", ")}</Fact>}
        {cidrs !== null && <Fact name="From">{cidrs.join(", ")}</Fact>}
        <Fact name="Last used">
          <TimeOrNever at={last_used_at} />
        </Fact>
        <Fact name="Expires">
          <TimeOrNever at={expires_at} />
        </Fact>
        {old_secret_expires_at !== null && (
          <Fact name="Old secret until">
            <Time at={old_secret_expires_at} />
          </Fact>
        )}
      </Facts>
    </section>
  );
}

function KeyBadges({ apiKey: { id, expires_at, old_secret_expires_at } }: { apiKey: ApiKey }) {
  const { me } = useConsole();
  const hasEnded = expires_at !== null && Date.parse(expires_at) <= Date.now();
  return (
    <>
      {me.id === id && <Badge tone="accent">yours</Badge>}
      {hasEnded && <Badge tone="bad">expired</Badge>}
      {old_secret_expires_at !== null && <Badge tone="warn">rotating</Badge>}
    </>
  );
}
