/** Where the engines' SQL differs. Everything else is one text for both. */
export type Dialect = {
  /** Ends a SELECT that keeps its rows from being changed by others until the transaction ends. */
  forUpdate: string;
  /** A subquery of the texts of a JSON array: `… IN (${textsOf("?")})`. Its column is `value`. */
  textsOf(placeholder: string): string;
};

/** SQLite: one writer at a time, so a transaction needs no row locks. */
export const sqliteDialect: Dialect = {
  forUpdate: "",
  textsOf: (placeholder) => `SELECT value FROM json_each(${placeholder})`,
};
