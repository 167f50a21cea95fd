import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { logSubject } from "../../../src/bus/subjects.ts";
import { createId } from "../../../src/lib/text/ids.ts";
import type { Socket } from "../../harness/clients/socket.ts";
import { within } from "../../harness/deadline.ts";
import { startNats } from "../../harness/engines/nats.ts";
import { startPostgres } from "../../harness/engines/postgres.ts";
import { type Cluster, startCluster } from "../../harness/servers/cluster.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const soonMs = 3_000; // sooner than a head check

const postgres = await startPostgres();
const nats = await startNats();
if (postgres !== undefined && nats !== undefined) {
  let cluster: Cluster;
  const engines = new AsyncDisposableStack();
  afterAll(async () => {
    await engines.disposeAsync();
    await nats.stop();
    postgres.stop();
  });
  cluster = engines.use(await startCluster({ nodes: 2, postgres, nats }));

  const garbage = ["{", "x"];
  const isForged = (text: string) =>
    text.includes("forged") || garbage.some((start) => text.startsWith(start + start[0]) || text === start);

  /** Joins the bus as someone who may read and write there, and listens to an organization's log. */
  async function joinAsForger(org: string): Promise<Forger & AsyncDisposable> {
    const connection: NatsConnection = await connect({ servers: nats?.url ?? "" });
    let last: Heard | undefined;
    let wake = () => {};
    connection.subscribe(logSubject(org), {
      callback: (_, message) => {
        const text = message.string();
        if (isForged(text)) return;
        const heard: Heard = JSON.parse(text);
        last = heard;
        wake();
      },
    });
    await connection.flush();
    return {
      async untilHeard(offset) {
        while ((last?.offset ?? 0) < offset) await within(new Promise<void>((resolve) => (wake = resolve)), "a hint");
      },
      async tell(hint) {
        const { offset = 0, id } = last ?? {};
        const text =
          typeof hint === "string" ? hint : JSON.stringify({ v: 1, org, offset: offset + 1, prev: id, ...hint });
        connection.publish(logSubject(org), text);
        await connection.flush();
      },
      [Symbol.asyncDispose]: () => connection.close(),
    };
  }

  type Heard = { offset: number; id: string };
  type Forger = {
    /** Resolves once the hint at an offset was overheard. */
    untilHeard(offset: number): Promise<void>;
    /** Publishes a text, or a hint of what would follow the last event overheard. */
    tell(hint: string | object): Promise<void>;
  };

  type Scene = { org: Organization; cid: string; bobs: Socket[]; eves: Socket[]; forger: Forger };

  /** Alice and bob talk; eve is connected but takes no part; the forger has overheard one message. */
  async function inScene(play: (scene: Scene) => Promise<void>): Promise<void> {
    const org = await createOrganization(cluster.node(0).herald);
    const cid = await org.conversation(["alice", "bob"]);
    await org.conversation(["eve"]);
    const views = await Promise.all(cluster.nodes.map(({ herald }) => createOrganization(herald, org.id)));
    const bobs: Socket[] = [];
    const eves: Socket[] = [];
    for (const view of views) {
      bobs.push(await view.socket("bob"));
      eves.push(await view.socket("eve"));
    }
    await using forger = await joinAsForger(org.id);
    await org.sent("alice", { cid, body: "overheard" });
    for (const bob of bobs) expect((await bob.next()).message?.body).toBe("overheard");
    await forger.untilHeard(1);
    await play({ org, cid, bobs, eves, forger });
  }

  /**
   * What alice sends now is soon heard by every bob and by no eve; nobody was disconnected, and newcomers are let in.
   */
  async function expectUndisturbed({ org, cid, bobs, eves }: Scene, body = "after the forgery"): Promise<void> {
    await org.sent("alice", { cid, body });
    for (const bob of bobs) expect((await bob.next(undefined, body, soonMs)).message?.body).toBe(body);
    for (const { herald } of cluster.nodes) {
      const view = await createOrganization(herald, org.id);
      const late = await view.socket("bob");
      await org.sent("alice", { cid, body: "and to who comes later" });
      for (const bob of [late, ...bobs])
        expect((await bob.next(undefined, "the later one", soonMs)).message?.body).toBe("and to who comes later");
    }
    for (const socket of [...bobs, ...eves]) await socket.expectSilence();
  }

  const message = (body: string, cid: string) => JSON.stringify({ message: { _id: "forged", cid, body } });

  describe("someone who may publish on the bus, without the secret of the nodes,", () => {
    test("lets no outsider hear through a membership that nobody stored", () =>
      inScene(async (scene) => {
        const change = JSON.stringify({ added: ["eve"], removed: ["bob"] });
        await scene.forger.tell({ kind: "membership", id: "forged", cid: scene.cid, payload: change });
        await expectUndisturbed(scene);
      }));

    test("suppresses no message that was answered 201, and replaces none", () =>
      inScene(async (scene) => {
        const { cid, forger } = scene;
        await forger.tell({ kind: "message", id: "forged", cid, payload: message("forged", cid) });
        await forger.tell({ offset: 2 ** 52, id: "forged", prev: "forged" });
        await expectUndisturbed(scene);
      }));

    test("silences no organization with text that is not JSON or has a wrong shape", () =>
      inScene(async (scene) => {
        const { cid, forger } = scene;
        for (const kind of ["message", "system", "membership", "session"])
          for (const payload of ["no JSON", "null", '{"added":"eve","removed":1,"uids":1}'])
            await forger.tell({ kind, id: `forged ${createId()}`, cid, uids: ["bob", "eve"], payload });
        await expectUndisturbed(scene);
      }));

    test("signs nobody out, and sends no system message", () =>
      inScene(async (scene) => {
        const { forger } = scene;
        const payload = JSON.stringify({ issuedBefore: Date.now() + 1e6 });
        await forger.tell({ kind: "session", id: "forged", payload });
        await forger.tell({ kind: "system", id: "forged", uids: ["eve"], payload: '{"system_message":{"_id":"x"}}' });
        await expectUndisturbed(scene);
      }));

    test("changes nothing with floods of garbage, large ones, and on other subjects", () =>
      inScene(async (scene) => {
        for (let round = 0; round < 2_000; round++) await scene.forger.tell(round % 2 === 0 ? "{" : "x".repeat(round));
        await scene.forger.tell("x".repeat(1_000_000));
        await expectUndisturbed(scene);
      }));
  });
}
