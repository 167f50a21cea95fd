/** The limits that a payload is checked against. `Infinity` lifts one. */
export type PayloadLimits = {
  bodyCharacters: number;
  /** Bytes of `x` as JSON. */
  xBytes: number;
  attachments: number;
  recipients: number;
  participants: number;
  /** How long a user token may live. */
  tokenSeconds: number;
  jsonDepth: number;
};

/** The limits of api.md, section 7, which the published documents show. */
export const defaultPayloadLimits: PayloadLimits = {
  bodyCharacters: 65_536,
  xBytes: 32_768,
  attachments: 20,
  recipients: 10_000,
  participants: 100_000,
  tokenSeconds: 2_592_000,
  jsonDepth: 32,
};
