import type { ComponentChildren } from "preact";
import type { Organization } from "../../sdk/types.ts";
import { useConsole } from "../state/context.ts";
import { Fact, Facts } from "./facts.tsx";
import { formatBytes } from "./format-bytes.ts";

const count = (value: number) => value.toLocaleString("en-GB");

/** The organization's usage and limits. */
export function OrganizationUse({ organization }: { organization: Organization }) {
  const { link } = useConsole();
  const { id } = organization;
  return (
    <section aria-labelledby="use">
      <h2 id="use">
        What <span class="mono">{id}</span> uses
      </h2>
      <UseOfLimits organization={organization} />
      <p>
        <a href={link("organizations", id)}>Open the organization</a>
      </p>
    </section>
  );
}

/** What an organization uses, each beside its limit. */
export function UseOfLimits({ organization: { limits, usage } }: { organization: Organization }) {
  return (
    <div class="card stack">
      <Facts>
        <Use name="Requests per second" used={usage.requests_per_second} limit={limits.requests_per_second} />
        <Use name="Messages per second" used={usage.messages_per_second} limit={limits.messages_per_second} />
        <Use name="Connections" used={usage.connections} limit={limits.connections} />
        <Use name="Stored" used={usage.stored_bytes} limit={limits.stored_bytes} show={formatBytes} />
      </Facts>
      <p class="fine">
        Usage is the total of all nodes. The storage limit applies to all nodes together, the others to each node.
      </p>
    </div>
  );
}

type UseProps = { name: string; used: number | null; limit: number | null; show?: (value: number) => string };

function Use({ name, used, limit, show = count }: UseProps) {
  return (
    <Fact name={name}>
      {used === null ? <Quiet>unknown</Quiet> : show(used)} <Quiet>{limitOf(limit, show)}</Quiet>
    </Fact>
  );
}

function limitOf(limit: number | null, show: (value: number) => string): string {
  if (limit === null) return "· server's limit";
  return limit === 0 ? "· no limit" : `of ${show(limit)}`;
}

function Quiet({ children }: { children: ComponentChildren }) {
  return <span class="quiet">{children}</span>;
}
