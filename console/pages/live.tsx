import { useEffect, useRef, useState } from "preact/hooks";
import type { FeedFilter } from "../../sdk/types.ts";
import { Badge } from "../parts/badge.tsx";
import { EventList } from "../parts/event-list.tsx";
import { FeedBadge } from "../parts/feed-badge.tsx";
import { ChoiceField, TextField } from "../parts/forms/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { HeardDetail } from "../parts/reports/heard-detail.tsx";
import { isUnanswered } from "../state/contact.ts";
import { useConsole, useOrganization } from "../state/context.ts";
import { type Feed, type FeedStanding, followEvents } from "../state/feed.ts";
import type { Entry, Heard } from "../state/heard.ts";
import { useWhenBack } from "../state/loading.ts";
import { routeTo } from "../state/route.ts";
import { useTold } from "../state/told.ts";

const kinds = [
  ["", "Everything"],
  ["message", "Messages"],
  ["system_message", "System messages"],
  ["message_edit", "Edits"],
  ["message_append", "Pieces of messages"],
  ["message_reactions_update", "Reactions"],
  ["message_delete", "Recalls"],
  ["system_message_delete", "Recalls of system messages"],
  ["message_read", "Reads"],
  ["system_message_read", "Reads of system messages"],
] as const;

const nothing: readonly Entry[] = [];

/** Everything that is delivered in the organization, live. The filter is part of the address. */
export function Live() {
  const { route, me, org } = useConsole();
  const { kind, cid, uid } = route.query;
  const filter = { kind, cid, uid };
  const [turn, setTurn] = useState(0);
  const setFilter = (change: Typed) => {
    const query = { ...change, org: me.organization === null ? org : undefined };
    location.replace(routeTo("live", undefined, query));
  };
  return (
    <>
      <FilterForm filter={filter} onChange={setFilter} />
      <Following
        key={`${JSON.stringify(filter)} ${turn}`}
        filter={filterOf(filter)}
        onAgain={() => setTurn(turn + 1)}
      />
    </>
  );
}

/** The filter in the address. */
type Typed = { kind?: string | undefined; cid?: string | undefined; uid?: string | undefined };

/** The filter in the form that the server expects. */
function filterOf({ kind, cid, uid }: Typed): FeedFilter {
  const known = kinds.map(([name]) => name).find((name) => name === kind);
  return {
    ...(known !== undefined && known !== "" && { kind: known }),
    ...(cid !== undefined && { cid }),
    ...(uid !== undefined && { uid }),
  };
}

function FilterForm({ filter, onChange }: { filter: Typed; onChange: (change: Typed) => void }) {
  const [cid, setCid] = useState(filter.cid ?? "");
  const [uid, setUid] = useState(filter.uid ?? "");
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ kind: filter.kind, cid, uid });
      }}
    >
      <ChoiceField
        label="Kind"
        value={filter.kind ?? ""}
        options={kinds}
        onChange={(kind) => onChange({ kind, cid, uid })}
      />
      <TextField label="Conversation" value={cid} onChange={setCid} isId />
      <TextField label="User" value={uid} onChange={setUid} isId />
      <button type="submit">Filter</button>
    </form>
  );
}

/** The events on the screen while the view is paused. Later events wait. */
type Held = { heard: readonly Entry[]; count: number };

function Following({ filter, onAgain }: { filter: FeedFilter; onAgain: () => void }) {
  const { client, noteFailure } = useConsole();
  const org = useOrganization();
  const feed = useRef<Feed | undefined>(undefined);
  const [, look] = useState(0);
  const [held, setHeld] = useState<Held>();
  const [isPaused, setIsPaused] = useState(false);
  const [chosen, setChosen] = useState<Heard>();
  useEffect(() => {
    const following = followEvents({ client, org, filter, onChange: () => look((turn) => turn + 1) });
    feed.current = following;
    return () => following.stop();
  }, []);

  const standing: FeedStanding = feed.current?.standing() ?? { is: "connecting" };
  const count = feed.current?.count() ?? 0;
  const shown = held ?? { heard: feed.current?.heard() ?? nothing, count };
  const rate = useRate(count);
  useEffect(() => {
    if (standing.is === "ended") noteFailure(standing.error);
  }, [standing.is]);
  useWhenBack(standing.is === "ended" && isUnanswered(standing.error), onAgain);
  useTold(count, "event");

  const hold = () => setHeld((before) => before ?? { heard: [...(feed.current?.heard() ?? nothing)], count });
  const release = () => {
    if (!isPaused) setHeld(undefined);
  };
  const togglePause = () => {
    setIsPaused(!isPaused);
    if (isPaused) setHeld(undefined);
    else hold();
  };
  const choose = (one: Heard) => {
    setChosen(one);
    setIsPaused(true);
    hold();
  };
  // What is chosen grows on, also while the list stands still.
  const latest = chosen && latestOf(chosen, feed.current?.heard() ?? nothing);
  useEffect(() => setChosen(latest), [latest]);
  const missed = count - shown.count;
  const fresh = `${missed.toLocaleString("en-GB")} new`;
  return (
    <>
      <div class="feed-bar">
        <FeedBadge standing={standing} />
        <span class="fine">
          {count.toLocaleString("en-GB")} received, {rate} per second
        </span>
        <span class="spacer" />
        {isPaused && <Badge tone="warn">paused</Badge>}
        {missed > 0 && !isPaused && <Badge tone="accent">{fresh}</Badge>}
        <span class="together">
          <button type="button" class={isPaused ? "small primary" : "small"} onClick={togglePause}>
            {isPaused ? `Resume${missed > 0 ? `, ${fresh}` : ""}` : "Pause"}
          </button>
          <button
            type="button"
            class="small"
            onClick={() => {
              feed.current?.clear();
              setHeld(isPaused ? { heard: [], count } : undefined);
              setChosen(undefined);
            }}
          >
            Clear
          </button>
        </span>
      </div>
      {standing.is === "lost" && <Problem error={standing.error} />}
      {standing.is === "ended" && <Problem error={standing.error} retry={onAgain} />}
      <div class={chosen === undefined ? "feed" : "feed with-detail"}>
        <EventList heard={shown.heard} chosen={chosen} onChoose={choose} onHold={hold} onRelease={release} />
        {chosen !== undefined && (
          <HeardDetail key={chosen.number} heard={chosen} onClose={() => setChosen(undefined)} />
        )}
      </div>
    </>
  );
}

/** An event as it is shown now: a message may have grown. */
function latestOf(chosen: Heard, shown: readonly Entry[]): Heard {
  const latest = shown.find(({ number }) => number === chosen.number);
  return latest === undefined || latest.kind === "break" ? chosen : latest;
}

/** Events per second, over the last second. */
function useRate(count: number): number {
  const [rate, setRate] = useState(0);
  const latest = useRef(count);
  latest.current = count;
  useEffect(() => {
    let before = latest.current;
    const timer = setInterval(() => {
      setRate(Math.max(0, latest.current - before));
      before = latest.current;
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  return rate;
}
