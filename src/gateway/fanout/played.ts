/** The number of connections an event was played to, and whether any of them is slow to take it. */
export type Played = { connections: number; isSlow: boolean };

/** Played to nobody. */
export const toNobody: Played = { connections: 0, isSlow: false };

/** Played to some and to others. */
export function together(some: Played, others: Played): Played {
  if (others === toNobody) return some;
  return { connections: some.connections + others.connections, isSlow: some.isSlow || others.isSlow };
}
