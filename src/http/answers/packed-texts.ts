import { type PageFile, packFile } from "./pack-file.ts";

/** What a page says to one reader, and its media type. */
export type PageText = { type: string; text: string };

/** A cache of what pages say, compressed. */
export type PackedTexts = {
  /** The text that `write` writes, ready to be sent in each encoding. It is written and compressed once per key. */
  of(key: string, write: () => PageText | Promise<PageText>): Promise<PageFile>;
};

const defaultMostBytes = 16 * 1024 * 1024; // every page, as the readers at one address get it, takes about 8 MiB

/**
 * Creates a cache of compressed texts. Texts are compressed one after the other, outside the serving thread, so that requests with
 * invented `Host` headers take one core at most. If the cache has more than `mostBytes`, it drops the oldest. Failures are not cached.
 */
export function createPackedTexts(mostBytes: number = defaultMostBytes): PackedTexts {
  const kept = new Map<string, PageFile>();
  const underWay = new Map<string, Promise<PageFile>>();
  let keptBytes = 0;
  let last: Promise<unknown> = Promise.resolve();

  function keep(key: string, file: PageFile): void {
    kept.set(key, file);
    keptBytes += bytesOf(file);
    for (const [oldest, { bytes }] of kept) {
      if (keptBytes <= mostBytes) return;
      kept.delete(oldest);
      keptBytes -= bytesOf({ bytes });
    }
  }

  async function pack(key: string, write: () => PageText | Promise<PageText>): Promise<PageFile> {
    const { type, text } = await write();
    const file = await packFile(type, text);
    keep(key, file);
    return file;
  }

  return {
    async of(key, write) {
      const known = kept.get(key) ?? underWay.get(key);
      if (known !== undefined) return known;
      const packed = last.then(() => pack(key, write)).finally(() => underWay.delete(key));
      last = packed.catch(() => undefined);
      underWay.set(key, packed);
      return packed;
    },
  };
}

function bytesOf({ bytes }: Pick<PageFile, "bytes">): number {
  return Object.values(bytes).reduce((sum, { byteLength }) => sum + byteLength, 0);
}
