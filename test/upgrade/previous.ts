/** The revision that nodes are upgraded from. CONTRIBUTING says when to move it forward. */
export const previousRevision = "3dbdad5f0de41dea47a0fb4250a03654532baa37";
