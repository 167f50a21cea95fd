import type { Row, SqlValue } from "./driver.ts";

/** A column, and how it keeps the field of an object. */
type Column<Value> = { name: string; read(stored: SqlValue): Value; write(value: Value): SqlValue };

/** Converts rows to objects. */
export type RowReads<Shape, Entity> = {
  read(row: Shape): Entity;
  readAll(rows: Promise<readonly Shape[]>): Promise<Entity[]>;
  /** The object of the first row, if there is one. */
  readFirst(rows: Promise<readonly Shape[]>): Promise<Entity | undefined>;
};

/** Creates the reads of objects that one row each becomes. */
export function createRowReads<Shape, Entity>(read: (row: Shape) => Entity): RowReads<Shape, Entity> {
  const readAll = async (rows: Promise<readonly Shape[]>) => (await rows).map(read);
  return { read, readAll, readFirst: async (rows) => (await readAll(rows))[0] };
}

/** Converts objects to the rows of a table and back. */
export type Mapping<Entity> = RowReads<Row, Entity> & {
  /** The columns, to be selected. */
  columns: string;
  names: readonly string[];
  /** The columns of those fields that are given. */
  write(fields: Partial<Entity>): Row;
};

/** The objects that a mapping converts. */
export type Mapped<Of> = Of extends Mapping<infer Entity> ? Entity : never;

/** Creates the mapping of objects whose fields have these columns. */
export function createMapping<Columns extends Record<string, Column<unknown>>>(columns: Columns) {
  type Entity = { [Field in keyof Columns]: ReturnType<Columns[Field]["read"]> };
  const entries = Object.entries<Column<unknown>>(columns);
  const columnOf = new Map(entries);
  const names = entries.map(([, { name }]) => name);
  const mapping: Mapping<Entity> = {
    columns: names.join(", "),
    names,
    // The types of the columns are those of the fields.
    ...createRowReads(
      (row) => Object.fromEntries(entries.map(([field, { name, read }]) => [field, read(row[name] ?? null)])) as Entity,
    ),
    write(fields) {
      const row: Row = {};
      for (const [field, value] of Object.entries(fields)) {
        const column = columnOf.get(field);
        if (column !== undefined) row[column.name] = column.write(value);
      }
      return row;
    },
  };
  return mapping;
}

/** A column of texts. The caller names those that it holds, as everywhere in the driver. */
export function text<Value extends string = string>(name: string): Column<Value> {
  return { name, read: (stored) => stored as Value, write: (value) => value };
}

/** A column of numbers, which PostgreSQL returns as texts. */
export function number(name: string): Column<number> {
  return { name, read: Number, write: (value) => value };
}

/** A column of JSON texts. */
export function json<Value>(name: string): Column<Value> {
  return { name, read: (stored) => JSON.parse(String(stored)), write: (value) => JSON.stringify(value) };
}

/** A column that may hold NULL, for `null`. */
export function nullable<Value>({ name, read, write }: Column<Value>): Column<Value | null> {
  return {
    name,
    read: (stored) => (stored === null ? null : read(stored)),
    write: (value) => (value === null ? null : write(value)),
  };
}

/** A column that may hold NULL, for `undefined`. */
export function optional<Value>({ name, read, write }: Column<Value>): Column<Value | undefined> {
  return {
    name,
    read: (stored) => (stored === null ? undefined : read(stored)),
    write: (value) => (value === undefined ? null : write(value)),
  };
}
