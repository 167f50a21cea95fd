/** All types of the contract that the SDK uses, for both of its entries. */
export type * from "./types/directory.ts";
export type * from "./types/events.ts";
export type * from "./types/proposals.ts";
export type * from "./types/reports.ts";
export type * from "./types/sends.ts";
export type * from "./types/server.ts";
export type * from "./webhook-types.ts";
