/** The limits that payloads are checked against. `Infinity` lifts a limit. */
export type PayloadLimits = {
  bodyCharacters: number;
  /** Bytes of `x` as JSON. */
  xBytes: number;
  attachments: number;
  recipients: number;
  participants: number;
  /** The maximum lifetime of a user token, in seconds. */
  tokenSeconds: number;
  jsonDepth: number;
};

/** The default limits (api.md, section 7), which the published documents show. */
export const defaultPayloadLimits: PayloadLimits = {
  bodyCharacters: 65_536,
  xBytes: 32_768,
  attachments: 20,
  recipients: 10_000,
  participants: 100_000,
  tokenSeconds: 2_592_000,
  jsonDepth: 32,
};
