import type { ComponentChildren } from "preact";
import { useConsole } from "../state/context.ts";
import { mostOthers } from "../state/organizations.ts";
import { routeTo } from "../state/route.ts";
import { basePath } from "../state/server.ts";
import type { Remedy, Trouble } from "../state/troubles.ts";
import { Badge } from "./badge.tsx";
import { Time } from "./time.tsx";

type Props = {
  troubles: readonly Trouble[];
  /** Whether the key shows all that may be wrong. */
  isComplete: boolean;
  /** Whether the other organizations are still looked at. */
  isLooking: boolean;
  /** Whether there are more organizations than were looked at. */
  hasMore: boolean;
};

/** What is wrong now, each with since when and a link to where it is mended; one line if nothing is. */
export function Troubles({ troubles, isComplete, isLooking, hasMore }: Props) {
  const unseen = hasMore ? ` Webhooks are looked at in ${mostOthers + 1} organizations.` : "";
  if (troubles.length === 0) {
    const extent = isLooking ? " so far" : isComplete ? "" : " in what your key shows";
    return (
      <p class="notice ok">
        Nothing is wrong{extent}.{unseen}
      </p>
    );
  }
  return (
    <section class="notice bad" aria-labelledby="wrong">
      <h2 id="wrong" class="notice-title">
        Wrong now
      </h2>
      <ul class="troubles" aria-label="Wrong now">
        {troubles.map(({ what, since, isBad, remedy }) => (
          <li key={`${what} ${since}`}>
            <Badge tone={isBad ? "bad" : "warn"}>{isBad ? "critical" : "warning"}</Badge>
            <span>
              <RemedyLink remedy={remedy}>{what}</RemedyLink>
              {since !== undefined && (
                <span class="fine">
                  {" since "}
                  <Time at={since} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
      {unseen !== "" && <p class="fine">{unseen}</p>}
    </section>
  );
}

function RemedyLink({ remedy, children }: { remedy: Remedy; children: ComponentChildren }) {
  const { link } = useConsole();
  return <a href={"docs" in remedy ? docsLink(remedy.docs) : addressOf(remedy)}>{children}</a>;

  function addressOf({ page, id, query, org }: Exclude<Remedy, { docs: string }>): string {
    return org === undefined ? link(page, id, query) : routeTo(page, id, { ...query, org });
  }
}

/** The address of a how-to page. */
export function docsLink(page: string): string {
  return `${basePath}/docs/how-to/${page}`;
}
