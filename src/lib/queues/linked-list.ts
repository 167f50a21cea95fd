/** A value in a list, and its neighbours. Only the list changes them. */
export type Link<Value> = { readonly value: Value; before: Link<Value> | undefined; after: Link<Value> | undefined };

/** A list that adds, removes and moves values in constant time. */
export type LinkedList<Value> = {
  readonly first: Link<Value> | undefined;
  /** Adds a value at the end. */
  append(value: Value): Link<Value>;
  /** Removes a link of this list. */
  remove(link: Link<Value>): void;
  /** Moves a link of this list to the end. */
  moveToEnd(link: Link<Value>): void;
};

/**
 * Creates an empty list. A `Set` would do, but finding its first member iterates over deleted ones: 24 µs with 20,000.
 */
export function createLinkedList<Value>(): LinkedList<Value> {
  let first: Link<Value> | undefined;
  let last: Link<Value> | undefined;

  function attach(link: Link<Value>): void {
    link.before = last;
    link.after = undefined;
    if (last === undefined) first = link;
    else last.after = link;
    last = link;
  }

  function detach(link: Link<Value>): void {
    const { before, after } = link;
    if (before === undefined) first = after;
    else before.after = after;
    if (after === undefined) last = before;
    else after.before = before;
  }

  return {
    get first() {
      return first;
    },
    append(value) {
      const link: Link<Value> = { value, before: undefined, after: undefined };
      attach(link);
      return link;
    },
    remove: detach,
    moveToEnd(link) {
      if (link === last) return;
      detach(link);
      attach(link);
    },
  };
}
