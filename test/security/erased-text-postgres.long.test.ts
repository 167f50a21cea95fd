import { afterAll } from "bun:test";
import { columnsOfPostgres } from "../harness/reading/columns.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { describeErasedText } from "./erased-text.ts";

const cluster = await startCluster({ nodes: 1, nats: null, env: () => ({ HERALD_WEBHOOK_ALLOW_PRIVATE: "1" }) });
if (cluster !== undefined) {
  afterAll(() => cluster[Symbol.asyncDispose]());
  describeErasedText(
    () => cluster.node(0).herald,
    (text) => columnsOfPostgres(cluster.databaseUrl, text),
  );
}
