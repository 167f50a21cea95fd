import { about } from "../../contract/documents/about.ts";
import { toIso } from "../../contract/identifiers.ts";
import {
  type Node,
  type NodeFigures,
  type NodeHistory,
  type NodeProblem,
  type NodeRefusals,
  type NodeStatus,
  nodeStatus,
} from "../../contract/nodes.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { NodeRegistry, RegisteredNode } from "../../store/ports.ts";
import { createNodeHistory } from "./node-history.ts";

const silentAfterBeats = 3;
const forgottenAfterBeats = 30;

/** The nodes that share a database, and which of them are alive. */
export type Nodes = ReturnType<typeof createNodes>;

/** What a node is doing, read once per beat. `checkedAt` is in milliseconds since the Unix epoch. */
export type Activity = {
  connections: number;
  organizations: number;
  lag: { events: number; checkedAt: number | undefined };
  figures: NodeFigures;
  refusals: NodeRefusals;
  problems: NodeProblem[];
};

type Dependencies = {
  id: string;
  name: string | undefined;
  url(): string;
  /** The internal address, if there is one. */
  adminUrl(): string | undefined;
  activity(): Activity;
  registry: NodeRegistry;
  clock: Clock;
  /** Called at each beat with how far this machine's clock is ahead of the database's, exact up to `uncertainMs`. */
  onClock?(offset: { offsetMs: number; uncertainMs: number }): void;
};

/** What a node writes to the registry for other nodes only. Versions before 0.1.0 omit it. */
type Abilities = { signs: true };

/**
 * Creates the view of one node. Another node counts as silent if it stays silent during three beats of this one, and is
 * forgotten after thirty. Beats are counted instead of seconds, as clocks differ, and no node can beat while the
 * database is away.
 */
export function createNodes({ id, name, url, adminUrl, activity, registry, clock, onClock }: Dependencies) {
  const startedAt = clock.now();
  const history = createNodeHistory({ clock });
  let seen = new Map<string, { beat: number; missedBeats: number }>();
  let unsigning: ReadonlySet<string> = new Set();
  let heard: readonly string[] = [id];
  let beating: Promise<void> | undefined;
  let hasLeft = false;

  function describe(): NodeStatus & Abilities {
    const { connections, organizations, lag, figures, refusals, problems } = activity();
    const internal = adminUrl();
    return {
      id,
      name: name ?? null,
      version: about.version,
      url: url(),
      ...(internal !== undefined && { admin_url: internal }),
      started_at: toIso(startedAt),
      reported_at: toIso(clock.now()),
      connections,
      organizations,
      lag_events: lag.events,
      lag_checked_at: lag.checkedAt === undefined ? null : toIso(lag.checkedAt),
      refusals,
      problems,
      figures,
      signs: true,
    };
  }

  async function beatOnce(): Promise<void> {
    const sentAt = clock.now();
    const databaseTime = await registry.beat(id, JSON.stringify(describe()));
    const uncertainMs = (clock.now() - sentAt) / 2;
    if (databaseTime !== undefined) onClock?.({ offsetMs: sentAt + uncertainMs - databaseTime, uncertainMs });
    const before = seen;
    seen = new Map();
    const unsigningNow = new Set<string>();
    const heardNow = [id];
    const live: NodeStatus[] = [];
    for (const node of await registry.list()) {
      const known = before.get(node.id);
      const missedBeats = known?.beat === node.beat ? known.missedBeats + 1 : 0;
      if (missedBeats < forgottenAfterBeats) seen.set(node.id, { beat: node.beat, missedBeats });
      else await registry.remove(node.id, node.beat);
      if (isSilent(node)) continue;
      const status = readableStatus.safeParse(JSON.parse(node.status));
      if (status.success) live.push(status.data);
      if (!signs(node)) unsigningNow.add(node.id);
      if (node.id !== id) heardNow.push(node.id);
    }
    unsigning = unsigningNow;
    heard = heardNow;
    history.add(live);
  }

  function isSilent(node: RegisteredNode): boolean {
    const known = seen.get(node.id);
    return known?.beat === node.beat && known.missedBeats >= silentAfterBeats;
  }

  return {
    /**
     * Records that this node is alive, and looks at the others. Called every few seconds; a call during another shares
     * it.
     */
    async beat(): Promise<void> {
      if (hasLeft) return;
      beating ??= beatOnce().finally(() => {
        beating = undefined;
      });
      await beating;
    },
    /** The ids of the live nodes, this one first, as of the last beat. */
    get heard() {
      return heard;
    },
    /** The ids of live nodes whose version does not sign its bus messages, as of the last beat. */
    get unsigning() {
      return unsigning;
    },
    /** The ids of the live nodes, including this one. */
    async live(): Promise<string[]> {
      const others = (await registry.list()).filter((node) => node.id !== id && !isSilent(node));
      return [id, ...others.map((node) => node.id)];
    },
    /** All nodes, including those that fell silent within the last minute or so, and if asked for, their history. */
    async list({ history: withHistory = false } = {}): Promise<{ items: Node[]; history?: NodeHistory }> {
      const known = await registry.list();
      const items = known.map((node): Node => ({ ...readStatus(node), state: isSilent(node) ? "silent" : "live" }));
      return withHistory ? { items, history: history.read() } : { items };
    },
    /** Removes this node, which then stops beating. */
    async leave(): Promise<void> {
      hasLeft = true;
      await beating?.catch(() => undefined);
      await registry.remove(id);
    },
  };
}

/** A newer node may report more, and problems that this one does not know. */
const readableStatus = nodeStatus.strip().extend({
  figures: nodeStatus.shape.figures.strip(),
  refusals: nodeStatus.shape.refusals.catch(undefined),
  problems: nodeStatus.shape.problems.catch(undefined),
});

/** Reads what a node reported. */
export function readStatus({ status }: Pick<RegisteredNode, "status">): NodeStatus {
  return readableStatus.parse(JSON.parse(status));
}

/** Whether a node signs its bus messages. */
function signs({ status }: RegisteredNode): boolean {
  const said: Partial<Abilities> = JSON.parse(status);
  return said.signs === true;
}
