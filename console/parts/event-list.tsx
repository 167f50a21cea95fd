import { elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { useRef } from "preact/hooks";
import { useConsole } from "../state/context.ts";
import type { Break, Entry, Heard } from "../state/heard.ts";
import { useVirtualizer } from "../state/use-virtualizer.ts";
import { Badge } from "./badge.tsx";
import { Empty } from "./states.tsx";
import { timeOfDay } from "./time.tsx";

const rowHeight = 40; // in CSS, too
const beyond = 4; // rows rendered above and below the visible ones

type Props = {
  heard: readonly Entry[];
  chosen: Heard | undefined;
  onChoose: (heard: Heard) => void;
  /** Called when the reader is looking at an entry, so the list must not move. */
  onHold: () => void;
  onRelease: () => void;
};

/**
 * A list of events, newest first. Renders only visible rows, so that hundreds of events per second cost as little as a dozen. Pauses
 * while it is scrolled or focused, so that nothing moves under the reader.
 */
export function EventList({ heard, chosen, onChoose, onHold, onRelease }: Props) {
  const { can, link } = useConsole();
  const box = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer<HTMLElement>({
    count: heard.length,
    getItemKey: (place) => heard[heard.length - 1 - place]?.number ?? place,
    estimateSize: () => rowHeight,
    overscan: beyond,
    initialRect: { width: 0, height: 480 },
    getScrollElement: () => box.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
  });
  const rows = virtualizer.getVirtualItems();
  const update = () => {
    const isAtRest = (box.current?.scrollTop ?? 0) === 0 && !box.current?.contains(document.activeElement);
    if (isAtRest) onRelease();
    else onHold();
  };

  return (
    <section
      class="event-list"
      ref={box}
      onScroll={update}
      onFocusIn={update}
      onFocusOut={() => setTimeout(update)}
      aria-label="Events, newest first"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard (WCAG 2.1.1)
      tabIndex={0}
    >
      {heard.length === 0 && (
        <Empty title="Nothing yet">
          <p>Events that are delivered in this organization from now on appear here.</p>
          {can("message:send") && (
            <a class="button small" href={link("compose")}>
              Send a message
            </a>
          )}
        </Empty>
      )}
      <ol style={{ height: `${virtualizer.getTotalSize()}px`, paddingTop: `${rows[0]?.start ?? 0}px` }}>
        {rows.map(({ key, index }) => {
          const one = heard[heard.length - 1 - index];
          return (
            one !== undefined && (
              <li key={key}>
                {one.kind === "break" ? (
                  <BreakRow {...one} />
                ) : (
                  <Row heard={one} isChosen={chosen?.number === one.number} onChoose={onChoose} />
                )}
              </li>
            )
          );
        })}
      </ol>
    </section>
  );
}

function BreakRow({ lostAt, heardAt, isWhole }: Break) {
  return (
    <p class={isWhole ? "event-break" : "event-break bad"}>
      Connection lost from {timeOfDay(lostAt)} to {timeOfDay(heardAt)}:{" "}
      {isWhole ? "what came meanwhile follows, nothing is missing" : "events may be missing here"}
    </p>
  );
}

function Row({ heard, isChosen, onChoose }: { heard: Heard; isChosen: boolean; onChoose: (heard: Heard) => void }) {
  const { message, heardAt } = heard;
  return (
    <button type="button" class="event" aria-pressed={isChosen} onClick={() => onChoose(heard)}>
      <span class="event-time">{timeOfDay(heardAt)}</span>
      <Kind heard={heard} />
      <span class="event-who">
        {"from" in message && message.from}
        {"cid" in message && ` → ${message.cid}`}
      </span>
      <span class="event-text">{textOf(heard)}</span>
    </button>
  );
}

const badges = {
  message: ["accent", "message"],
  system_message: ["system", "system"],
  message_edit: ["warn", "edit"],
  message_append: ["accent", "piece"],
  message_reactions_update: ["plain", "reaction"],
  message_delete: ["bad", "recall"],
  system_message_delete: ["bad", "recall"],
  message_read: ["plain", "read"],
  system_message_read: ["plain", "read"],
} as const;

function Kind({ heard: { kind, message } }: { heard: Heard }) {
  if (kind === "message" && message.open) return <Badge tone="ok">being written</Badge>;
  const [tone, name] = badges[kind];
  return <Badge tone={tone}>{name}</Badge>;
}

function textOf(heard: Heard): string {
  if (heard.kind === "system_message") return JSON.stringify(heard.message.x);
  if (heard.kind === "system_message_read")
    return `has ${heard.message.seen ? "seen" : "read"} ${heard.message.ids.join(", ")}`.slice(0, 200);
  if (heard.kind === "message_read") return `has read ${heard.message.ids.join(", ")}`.slice(0, 200);
  if (heard.kind === "message_delete" || heard.kind === "system_message_delete")
    return `has taken back ${heard.message.ids.join(", ")}`.slice(0, 200);
  if (heard.kind === "message_reactions_update") {
    const { add, remove } = heard.message;
    return [add && `+ ${add}`, remove && `− ${remove}`].filter((one) => one !== undefined).join(" ");
  }
  if (heard.kind === "message_append") return heard.message.text.slice(0, 200);
  if (heard.message.body !== "") return heard.message.body.slice(0, 200);
  return heard.kind === "message" ? heard.message.attachments.map(({ file_name }) => file_name).join(", ") : "";
}
