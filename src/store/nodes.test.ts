import { createLoneRegistry } from "./nodes.ts";
import { describeNodeRegistry } from "./testing/node-suite.ts";

describeNodeRegistry("of a node alone", async () => ({ nodes: createLoneRegistry(), close: async () => undefined }));
