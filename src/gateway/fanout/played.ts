/** The number of connections an event was played to, and whether any of them is slow to take it. */
export type Played = { connections: number; isSlow: boolean };

/** Played to nobody. */
export const toNobody: Played = { connections: 0, isSlow: false };
