/** Creates a cache of what `make` made of the source that was asked for last. */
export function createLastMade<Source extends object, Made>(make: (source: Source) => Made) {
  let last: { source: Source; made: Made } | undefined;
  return {
    of(source: Source): Made {
      if (last?.source !== source) last = { source, made: make(source) };
      return last.made;
    },
    forget(): void {
      last = undefined;
    },
  };
}
