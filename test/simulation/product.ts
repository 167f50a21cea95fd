import type { createSigner } from "../../src/bus/signatures.ts";
import type { createSignedTexts } from "../../src/bus/signed-texts.ts";
import type { createGateway } from "../../src/gateway/gateway.ts";
import type { createCatchUp } from "../../src/services/catch-up.ts";
import type { createSessions } from "../../src/services/sessions.ts";

/** The code under test. */
export type Product = {
  createGateway: typeof createGateway;
  createCatchUp: typeof createCatchUp;
  createSessions: typeof createSessions;
  createSigner: typeof createSigner;
  createSignedTexts: typeof createSignedTexts;
};
