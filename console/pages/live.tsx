import { useEffect, useRef, useState } from "preact/hooks";
import { Badge } from "../parts/badge.tsx";
import { EventList } from "../parts/event-list.tsx";
import { ChoiceField, TextField } from "../parts/field.tsx";
import { HeardDetail } from "../parts/heard-detail.tsx";
import { Problem } from "../parts/problem.tsx";
import { useConsole, useOrganization } from "../state/context.ts";
import { type Feed, type FeedFilter, type FeedState, followEvents, type Heard } from "../state/feed.ts";
import { routeTo } from "../state/route.ts";

const kinds = [
  ["", "Everything"],
  ["message", "Messages"],
  ["system_message", "System messages"],
] as const;

const nothing: readonly Heard[] = [];

/** Everything that is delivered in the organization, as it happens. The filter stands in the address. */
export function Live() {
  const { route, me, org } = useConsole();
  const { kind, cid, uid } = route.query;
  const filter: FeedFilter = { kind, cid, uid };
  const setFilter = (change: FeedFilter) => {
    const query = { ...filter, ...change, org: me.organization === null ? org : undefined };
    location.replace(routeTo("live", undefined, query));
  };
  return (
    <>
      <FilterForm filter={filter} onChange={setFilter} />
      <Following key={JSON.stringify(filter)} filter={filter} />
    </>
  );
}

function FilterForm({ filter, onChange }: { filter: FeedFilter; onChange: (change: FeedFilter) => void }) {
  const [cid, setCid] = useState(filter.cid ?? "");
  const [uid, setUid] = useState(filter.uid ?? "");
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ cid, uid });
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

/** What is on the screen while the view is held: what came since then waits. */
type Held = { heard: readonly Heard[]; count: number };

function Following({ filter }: { filter: FeedFilter }) {
  const { apiKey, announce, noteFailure } = useConsole();
  const org = useOrganization();
  const feed = useRef<Feed | undefined>(undefined);
  const [, look] = useState(0);
  const [held, setHeld] = useState<Held>();
  const [isPaused, setIsPaused] = useState(false);
  const [chosen, setChosen] = useState<Heard>();
  useEffect(() => {
    const following = followEvents({ org, apiKey, filter, onChange: () => look((turn) => turn + 1) });
    feed.current = following;
    return () => following.stop();
  }, []);

  const state: FeedState = feed.current?.state() ?? { is: "connecting" };
  const count = feed.current?.count() ?? 0;
  const shown = held ?? { heard: feed.current?.heard() ?? nothing, count };
  const rate = useRate(count);
  useEffect(() => {
    if (state.is === "refused") noteFailure(state.error);
  }, [state.is]);
  useTold(count, announce);

  const hold = () => setHeld((before) => before ?? { heard: [...(feed.current?.heard() ?? nothing)], count });
  const release = () => {
    if (!isPaused) setHeld(undefined);
  };
  const togglePause = () => {
    setIsPaused(!isPaused);
    if (isPaused) setHeld(undefined);
    else hold();
  };
  const missed = count - shown.count;
  return (
    <>
      <div class="feed-bar">
        <Standing state={state} />
        <span class="fine">
          {count.toLocaleString("en-GB")} heard, {rate} a second
        </span>
        <span class="spacer" />
        {missed > 0 && <Badge tone="accent">{missed.toLocaleString("en-GB")} more wait</Badge>}
        <button type="button" class="small" aria-pressed={isPaused} onClick={togglePause}>
          {isPaused ? "Resume" : "Pause"}
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
      </div>
      {(state.is === "waiting" || state.is === "refused") && <Problem error={state.error} />}
      <div class={chosen === undefined ? "feed" : "feed with-detail"}>
        <EventList heard={shown.heard} chosen={chosen} onChoose={setChosen} onHold={hold} onRelease={release} />
        {chosen !== undefined && (
          <HeardDetail key={chosen.number} heard={chosen} onClose={() => setChosen(undefined)} />
        )}
      </div>
    </>
  );
}

function Standing({ state }: { state: FeedState }) {
  if (state.is === "open") return <Badge tone="ok">listening</Badge>;
  if (state.is === "connecting") return <Badge tone="plain">connecting</Badge>;
  if (state.is === "waiting") return <Badge tone="warn">lost, trying again</Badge>;
  return <Badge tone="bad">refused</Badge>;
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

/** Tells a screen reader how many came, every five seconds at most: not each one. */
function useTold(count: number, announce: (text: string) => void): void {
  const latest = useRef(count);
  latest.current = count;
  useEffect(() => {
    let told = latest.current;
    const timer = setInterval(() => {
      const fresh = latest.current - told;
      if (fresh > 0) announce(fresh === 1 ? "1 new event" : `${fresh} new events`);
      told = latest.current;
    }, 5000);
    return () => clearInterval(timer);
  }, []);
}
