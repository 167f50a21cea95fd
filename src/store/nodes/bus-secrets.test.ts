import { describeBusSecrets } from "../testing/bus-secrets-suite.ts";
import { createLoneBusSecrets } from "./nodes.ts";

describeBusSecrets("of a node alone", async () => ({
  busSecrets: createLoneBusSecrets(),
  close: async () => undefined,
}));
