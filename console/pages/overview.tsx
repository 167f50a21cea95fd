import { useState } from "preact/hooks";
import type { Node } from "../../sdk/types.ts";
import { Badge } from "../parts/badge.tsx";
import { Fact, Facts } from "../parts/facts.tsx";
import { OrganizationUse } from "../parts/organization-use.tsx";
import { Problem } from "../parts/problem.tsx";
import { Chart, shorten } from "../parts/reports/chart.tsx";
import { NotAllowed, Waiting } from "../parts/states.tsx";
import { age, Time } from "../parts/time.tsx";
import { useConsole } from "../state/context.ts";
import { useRepeating } from "../state/loading.ts";
import type { Sample } from "../state/node-history.ts";

const lookEveryMs = 2_000;

/** The state of the service: the nodes with their figures, or what a key of one organization may see, and the organization's usage. */
export function Overview() {
  const { can, me, org } = useConsole();
  return (
    <>
      {!can("observe") ? (
        <NotAllowed what="the state of the service" scope="observe" />
      ) : me.organization === null ? (
        <Nodes />
      ) : (
        <OneOrganization org={me.organization} />
      )}
      {org !== undefined && can("directory:read") && <OrganizationUse org={org} />}
      <YourKey />
    </>
  );
}

function Nodes() {
  const { client, history, noteFailure } = useConsole();
  const [state, setState] = useState<{ nodes: Node[] | undefined; error: unknown }>({
    nodes: undefined,
    error: undefined,
  });
  const look = async () => {
    try {
      const nodes: Node[] = (await client.listNodes()).items;
      history.add(nodes, performance.now());
      setState({ nodes, error: undefined });
    } catch (error) {
      noteFailure(error);
      setState(({ nodes }) => ({ nodes, error }));
    }
  };
  useRepeating(look, lookEveryMs, []);
  const { nodes, error } = state;
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      {nodes === undefined ? error === undefined && <Waiting what="the nodes" /> : <Service nodes={nodes} />}
    </>
  );
}

function Service({ nodes }: { nodes: Node[] }) {
  const samples = useConsole().history.samples();
  const column = (name: keyof Omit<Sample, "at">) => samples.map((sample) => sample[name]);
  const p50 = samples.at(-1)?.p50 ?? null;
  return (
    <>
      <Alarms nodes={nodes} />
      <section class="charts" aria-label="Figures of all nodes">
        <Chart title="Sends" values={column("sends")} unit="per second" />
        <Chart title="Deliveries" values={column("deliveries")} unit="per second" />
        <Chart
          title="Latency, p99"
          values={column("p99")}
          unit="ms"
          hint={p50 === null ? "no recent deliveries" : `p50 ${shorten(p50)} ms, commit to socket`}
        />
        <Chart title="Connections" values={column("connections")} unit="now" />
        <Chart title="Lag" values={column("lag")} unit="events" hint="stored, not yet delivered" />
        <Chart title="Errors" values={column("errors")} unit="per second" hint="sends that failed" />
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

/** Warnings for the operator. Empty if all is well. */
function Alarms({ nodes }: { nodes: Node[] }) {
  const silent = nodes.filter(({ state }) => state === "silent");
  const withoutBus = nodes.filter(({ state, figures }) => state === "live" && figures.bus === "down");
  const names = (some: Node[]) => some.map(nameOf).join(", ");
  return (
    <>
      {silent.length > 0 && (
        <div class="notice bad" role="alert">
          <p class="notice-title">Silent: {names(silent)}</p>
          <p>
            No report for 6 s: the node has crashed, hangs or is disconnected. Clients reconnect to other nodes. Check
            the node's log.
          </p>
        </div>
      )}
      {withoutBus.length > 0 && (
        <div class="notice warn" role="alert">
          <p class="notice-title">No bus: {names(withoutBus)}</p>
          <p>Nothing is lost, but messages from other nodes arrive up to 5 s late. Check whether NATS is running.</p>
        </div>
      )}
    </>
  );
}

function nameOf({ name, url, id }: Node): string {
  return name ?? (url === "" ? id : url.replace(/^https?:\/\//, "").replace(/\/$/, ""));
}

function NodeRow({ node }: { node: Node }) {
  const { figures } = node;
  return (
    <li class="node">
      <div class="node-head">
        <strong>{nameOf(node)}</strong>
        <Badge tone={node.state === "live" ? "ok" : "bad"}>{node.state}</Badge>
        {figures.bus === "up" && <Badge tone="ok">bus up</Badge>}
        {figures.bus === "down" && <Badge tone="bad">bus down</Badge>}
        <span class="fine">
          version {node.version}, up {age(node.started_at)}
        </span>
      </div>
      <Facts>
        <Fact name="Connections">{shorten(node.connections)}</Fact>
        <Fact name="Organizations">{shorten(node.organizations)}</Fact>
        <Fact name="Lag">{shorten(node.lag_events)}</Fact>
        <Fact name="Sends">{shorten(figures.sends)}</Fact>
        <Fact name="Deliveries">{shorten(figures.deliveries)}</Fact>
        <Fact name="Failed sends">{shorten(figures.send_errors)}</Fact>
        <Fact name="Slow, dropped">{shorten(figures.slow_consumers_cut)}</Fact>
        <Fact name="Repairs">{shorten(figures.repairs)}</Fact>
        <Fact name="Latency p50 / p99">
          {figures.latency_ms.p99 === null
            ? "–"
            : `${shorten(figures.latency_ms.p50 ?? 0)} / ${shorten(figures.latency_ms.p99)} ms`}
        </Fact>
        <Fact name="Event loop p99">{shorten(figures.event_loop_delay_ms.p99)} ms</Fact>
      </Facts>
    </li>
  );
}

function OneOrganization({ org }: { org: string }) {
  const { client, noteFailure } = useConsole();
  const [state, setState] = useState<{ values: number[]; connections: number; error: unknown }>({
    values: [],
    connections: 0,
    error: undefined,
  });
  const look = async () => {
    try {
      const { count, connections } = await client.countOnline(org);
      setState(({ values }) => ({ values: [...values, count].slice(-60), connections, error: undefined }));
    } catch (error) {
      noteFailure(error);
      setState((before) => ({ ...before, error }));
    }
  };
  useRepeating(look, lookEveryMs, []);
  const { values, connections, error } = state;
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <section class="charts" aria-label="Figures of the organization">
        <Chart title="Users online" values={values} unit="now" hint={`on ${shorten(connections)} connections`} />
      </section>
      <p class="fine">Your key is bound to one organization. Only keys for all organizations can see the nodes.</p>
    </>
  );
}

function YourKey() {
  const { me } = useConsole();
  return (
    <section aria-labelledby="your-key">
      <h2 id="your-key">Your key</h2>
      <div class="card">
        <Facts>
          <Fact name="Name">{me.name}</Fact>
          <Fact name="May">{me.scopes.includes("*") ? "everything" : me.scopes.join(", ")}</Fact>
          <Fact name="In">{me.organization ?? "all organizations"}</Fact>
          <Fact name="Sends as">{me.allowed_senders?.join(", ") ?? "anybody"}</Fact>
          <Fact name="Ends">{me.expires_at === null ? "never" : <Time at={me.expires_at} />}</Fact>
        </Facts>
      </div>
    </section>
  );
}
