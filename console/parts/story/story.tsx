import type { ComponentChildren } from "preact";
import { HeraldApiError } from "../../../sdk/errors.ts";
import { useOrganization } from "../../state/context.ts";
import { type Report, type SentId, useDelivery } from "../../state/delivery.ts";
import { useKeyNames } from "../../state/key-names.ts";
import { type Part, useStory } from "../../state/story/use-story.ts";
import { Problem } from "../problem.tsx";
import { FollowedReport } from "../reports/delivery-report.tsx";
import { RefreshProblem, Waiting } from "../states.tsx";
import { About } from "./about.tsx";
import { Timeline } from "./timeline.tsx";

type StoryProps = {
  sent: SentId;
  /** What to show if it cannot be read: after 404 in place of the error, otherwise below it. */
  otherwise?: (status: number) => ComponentChildren;
};

/** All that is known of a message or system message: what it says, what happened to it, and who has it. */
export function Story({ sent, otherwise }: StoryProps) {
  const org = useOrganization();
  const following = useDelivery(org, sent);
  const { delivery, error, again } = following;
  if (delivery === undefined) {
    if (error === undefined) return <Waiting what="the message" />;
    const status = error instanceof HeraldApiError ? error.status : 0;
    const other = otherwise?.(status);
    return (
      <>
        {(status !== 404 || other === undefined) && <Problem error={error} retry={again} />}
        {other}
      </>
    );
  }
  return (
    <>
      <About sent={sent} report={delivery} />
      <div class="two-columns">
        <div class="card stack">
          <h2>Who has it</h2>
          <FollowedReport sent={sent} following={following} />
        </div>
        <Happenings sent={sent} report={delivery} onReload={again} />
      </div>
    </>
  );
}

type HappeningsProps = { sent: SentId; report: Report; onReload: () => void };

function Happenings({ sent, report, onReload }: HappeningsProps) {
  const { steps, parts, hasBegun, isLoading, error, reload } = useStory(sent, report);
  const keyNames = useKeyNames();
  const left = [...new Set(parts.filter(({ isAllowed }) => !isAllowed).map(({ scope }) => scope))];
  const refresh = () => {
    onReload();
    reload();
  };
  return (
    <section aria-labelledby="happened">
      <div class="feed-bar">
        <h2 id="happened">What happened</h2>
        {isLoading && <span class="fine">looking…</span>}
        <span class="spacer" />
        <button type="button" class="small" disabled={isLoading} onClick={refresh}>
          Refresh
        </button>
      </div>
      <RefreshProblem error={error} hasValue />
      {hasBegun ? <Timeline steps={steps} keyNames={keyNames} /> : <Waiting what="what happened" />}
      {parts.map((part) => (
        <Further key={part.source} part={part} />
      ))}
      {left.map((scope) => (
        <p class="fine" key={scope}>
          Your key does not show{" "}
          {parts
            .filter((part) => part.scope === scope)
            .map(({ shows }) => shows)
            .join("; ")}{" "}
          (<code>{scope}</code>).
        </p>
      ))}
    </section>
  );
}

/** A source that could not be read, or that is longer than one look. */
function Further({ part: { source, look } }: { part: Part }) {
  return (
    <>
      <RefreshProblem error={look.error} hasValue={look.value !== undefined} retry={look.reload} />
      {look.hasMore && (
        <p class="fine">
          Not all of {source} was looked through.{" "}
          <button type="button" class="link" disabled={look.isLoading} onClick={look.more}>
            Look further<span class="visually-hidden"> through {source}</span>
          </button>
        </p>
      )}
    </>
  );
}
