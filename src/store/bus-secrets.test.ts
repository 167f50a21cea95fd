import { createLoneBusSecrets } from "./bus-secrets.ts";
import { describeBusSecrets } from "./testing/bus-secrets-suite.ts";

describeBusSecrets("of a node alone", async () => ({
  busSecrets: createLoneBusSecrets(),
  close: async () => undefined,
}));
