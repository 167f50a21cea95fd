import { describeBusSecrets } from "../testing/bus-secrets-suite.ts";
import { createLoneBusSecrets } from "./bus-secrets.ts";

describeBusSecrets("of a node alone", async () => ({
  busSecrets: createLoneBusSecrets(),
  close: async () => undefined,
}));
