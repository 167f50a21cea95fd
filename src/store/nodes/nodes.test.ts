import { describeNodeRegistry } from "../testing/node-suite.ts";
import { createLoneRegistry } from "./nodes.ts";

describeNodeRegistry("of a node alone", async () => ({ nodes: createLoneRegistry(), close: async () => undefined }));
