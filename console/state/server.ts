/**
 * The path below which this server is reached, without a `/` at its end: what precedes `/console` in the page's address. Empty on a
 * host of its own.
 */
export const basePath = location.pathname.replace(/\/console(\/demo)?\/?$/, "");

/** The address of this server. */
export const serverUrl = location.origin + basePath;
