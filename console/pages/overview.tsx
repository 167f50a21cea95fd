import { useState } from "preact/hooks";
import type { Node } from "../../sdk/types.ts";
import { nameScopes } from "../../src/contract/keys/scopes.ts";
import { Badge } from "../parts/badge.tsx";
import { Fact, Facts } from "../parts/facts.tsx";
import { OrganizationUse } from "../parts/organization-use.tsx";
import { Chart, type Point, shorten } from "../parts/reports/chart.tsx";
import { NotAllowed, RefreshProblem, Waiting } from "../parts/states.tsx";
import { age, Time } from "../parts/time.tsx";
import { docsLink, Troubles } from "../parts/troubles.tsx";
import { useConsole } from "../state/context.ts";
import { useRepeating } from "../state/loading.ts";
import { keptMs, type Sample } from "../state/node-history.ts";
import { findTroubles, nodeName } from "../state/troubles.ts";
import { useNodes, useOrganizationTroubles, useOtherWebhooks } from "../state/use-service.ts";

const lookEveryMs = 2_000;

/**
 * What is wrong now; the state of the service, that is the nodes with their figures, or what a key of one organization may see; and the
 * organization's usage.
 */
export function Overview() {
  const { can, me, asOf } = useConsole();
  const maySeeNodes = can("observe") && me.organization === null;
  const { nodes, history, error, checks } = useNodes(maySeeNodes);
  const ofOrganization = useOrganizationTroubles();
  const ofOthers = useOtherWebhooks();
  if (ofOrganization === undefined || (maySeeNodes && nodes === undefined && error === undefined))
    return <Waiting what="the overview" />; // all of it at once, so that nothing moves while one reads
  const others = ofOthers?.others ?? [];
  const troubles = findTroubles({ nodes: nodes ?? [], history, checks, asOf, ...ofOrganization, others });
  const isComplete = maySeeNodes && can("directory:read") && can("webhooks:manage") && can("history:read");
  // Nobody knows whether nothing is wrong while something cannot be read, which the page says.
  const hasFailed = [error, ofOrganization.error, ofOthers?.error].some((one) => one !== undefined);
  const isKnown = !hasFailed || troubles.length > 0;
  return (
    <>
      {isKnown && (
        <Troubles
          troubles={troubles}
          isComplete={isComplete}
          isLooking={ofOthers === undefined}
          hasMore={ofOthers?.hasMore === true}
        />
      )}
      <RefreshProblem
        error={ofOthers?.error}
        hasValue={ofOthers?.isWhole === true}
        what="The webhooks of other organizations cannot be read"
      />
      {!can("observe") ? (
        <NotAllowed what="the state of the service" scope="observe" />
      ) : me.organization === null ? (
        <>
          <RefreshProblem error={error} hasValue={nodes !== undefined} />
          {nodes !== undefined && <Service nodes={nodes} />}
        </>
      ) : (
        <OneOrganization org={me.organization} />
      )}
      <YourKey />
      <RefreshProblem error={ofOrganization.error} hasValue={ofOrganization.organization !== undefined} />
      {ofOrganization.organization !== undefined && <OrganizationUse organization={ofOrganization.organization} />}
    </>
  );
}

/** Where what a number counts is seen, or explained. */
function usePlaces() {
  const { link, org } = useConsole();
  const metrics = docsLink("monitor#metrics");
  const inOrganization = (page: string) => (org === undefined ? metrics : link(page));
  return {
    events: inOrganization("live"),
    connections: inOrganization("users"),
    organizations: link("organizations"),
    refusals: link("audit", undefined, { result: "refused" }),
    latency: metrics,
    alerts: docsLink("monitor#alerts"),
    failures: docsLink("monitor#what-the-log-says-and-what-to-do"),
  };
}

function Service({ nodes }: { nodes: Node[] }) {
  const { history } = useConsole();
  const places = usePlaces();
  const samples = history.samples();
  const column = (name: keyof Omit<Sample, "at">): Point[] => samples.map((one) => ({ at: one.at, value: one[name] }));
  const p50 = samples.at(-1)?.p50 ?? null;
  return (
    <>
      <section class="charts" aria-label="Figures of all nodes">
        <Chart title="Sends" points={column("sends")} unit="per second" href={places.events} />
        <Chart title="Deliveries" points={column("deliveries")} unit="per second" href={places.events} />
        <Chart
          title="Latency, p99"
          points={column("p99")}
          unit="ms"
          hint={p50 === null ? "no recent deliveries" : `p50 ${shorten(p50)} ms, commit to socket`}
          href={places.latency}
        />
        <Chart title="Connections" points={column("connections")} unit="now" href={places.connections} />
        <Chart title="Lag" points={column("lag")} unit="events" hint="stored, not yet delivered" href={places.alerts} />
        <Chart
          title="Errors"
          points={column("errors")}
          unit="per second"
          hint="sends that failed"
          href={places.failures}
        />
        <Chart
          title="Slow, dropped"
          points={column("cut")}
          unit="per second"
          hint="connections that read too slowly"
          href={places.alerts}
        />
        <Chart
          title="Refused"
          points={column("refused")}
          unit="per second"
          hint="keys and user tokens"
          href={places.refusals}
        />
      </section>
      <section aria-labelledby="nodes">
        <h2 id="nodes">Nodes</h2>
        <ul class="rows">
          {nodes.map((node) => (
            <NodeRow key={node.id} node={node} />
          ))}
        </ul>
      </section>
    </>
  );
}

function NodeRow({ node }: { node: Node }) {
  const { asOf } = useConsole();
  const places = usePlaces();
  const { figures } = node;
  return (
    <li class="node">
      <div class="node-head">
        <strong>{nodeName(node)}</strong>
        <Badge tone={node.state === "live" ? "ok" : "bad"}>
          {asOf === undefined ? "" : "was "}
          {node.state}
        </Badge>
        {node.problems?.some(({ kind }) => kind === "stopping") && <Badge tone="warn">stopping</Badge>}
        {figures.bus === "up" && <Badge tone="ok">bus up</Badge>}
        {figures.bus === "down" && <Badge tone="bad">bus down</Badge>}
        <span class="fine">
          version {node.version}, up {age(node.started_at)}
        </span>
      </div>
      <Facts>
        <Fact name="Connections" href={places.connections}>
          {shorten(node.connections)}
        </Fact>
        <Fact name="Organizations" href={places.organizations}>
          {shorten(node.organizations)}
        </Fact>
        <Fact name="Lag" href={places.alerts}>
          {shorten(node.lag_events)}
        </Fact>
        <Fact name="Sends" href={places.events}>
          {shorten(figures.sends)}
        </Fact>
        <Fact name="Deliveries" href={places.events}>
          {shorten(figures.deliveries)}
        </Fact>
        <Fact name="Failed sends" href={places.failures}>
          {shorten(figures.send_errors)}
        </Fact>
        <Fact name="Slow, dropped" href={places.alerts}>
          {shorten(figures.slow_consumers_cut)}
        </Fact>
        <Fact name="Repairs" href={places.failures}>
          {shorten(figures.repairs)}
        </Fact>
        <Fact name="Latency p50 / p99" href={places.latency}>
          {figures.latency_ms.p99 === null
            ? "–"
            : `${shorten(figures.latency_ms.p50 ?? 0)} / ${shorten(figures.latency_ms.p99)} ms`}
        </Fact>
        <Fact name="Event loop p99" href={places.latency}>
          {shorten(figures.event_loop_delay_ms.p99)} ms
        </Fact>
      </Facts>
    </li>
  );
}

function OneOrganization({ org }: { org: string }) {
  const { client, noteFailure } = useConsole();
  const [state, setState] = useState<{ points: Point[]; connections: number; error: unknown }>({
    points: [],
    connections: 0,
    error: undefined,
  });
  const look = async () => {
    try {
      const { count, connections } = await client.countOnline(org);
      const at = performance.now();
      setState(({ points }) => ({
        points: [...points.filter((one) => one.at > at - keptMs), { at, value: count }],
        connections,
        error: undefined,
      }));
    } catch (error) {
      noteFailure(error);
      setState((before) => ({ ...before, error }));
    }
  };
  useRepeating(look, lookEveryMs, []);
  const { points, connections, error } = state;
  return (
    <>
      <RefreshProblem error={error} hasValue={points.length > 0} />
      <section class="charts" aria-label="Figures of the organization">
        <Chart title="Users online" points={points} unit="now" hint={`on ${shorten(connections)} connections`} />
      </section>
      <p class="fine">Your key is bound to one organization. Only keys for all organizations can see the nodes.</p>
    </>
  );
}

function YourKey() {
  const { me } = useConsole();
  return (
    <section aria-labelledby="your-key">
      <h2 id="your-key">{me.session_id === null ? "Your key" : "You"}</h2>
      <div class="card">
        <Facts>
          <Fact name="Name">{me.name}</Fact>
          <Fact name="May">{nameScopes(me.scopes)}</Fact>
          <Fact name="In">{me.organization ?? me.organizations?.join(", ") ?? "all organizations"}</Fact>
          <Fact name="Sends as">{me.allowed_senders?.join(", ") ?? "anybody"}</Fact>
          <Fact name="Ends">{me.expires_at === null ? "never" : <Time at={me.expires_at} />}</Fact>
        </Facts>
      </div>
    </section>
  );
}
