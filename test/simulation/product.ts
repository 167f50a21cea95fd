import { createSigner } from "../../src/bus/signatures.ts";
import { createSignedTexts } from "../../src/bus/signed-texts.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import { createCatchUp } from "../../src/services/catch-up.ts";
import { createSessions } from "../../src/services/sessions.ts";

/** The code under test, as it is. */
export const product = { createGateway, createCatchUp, createSessions, createSigner, createSignedTexts };

/** The code under test. */
export type Product = typeof product;
