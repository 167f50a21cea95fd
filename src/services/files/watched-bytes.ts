import { toHeraldError } from "../../contract/errors/errors.ts";
import type { OutageEvents } from "../../lib/observing/outages.ts";
import type { FileBytes, StoredBytes } from "../../store/files/ports.ts";
import type { BytesOperation, FileFigures } from "./file-figures.ts";

type Options = { figures: FileFigures; outages: OutageEvents };

/**
 * Counts what a store of bytes fails to do, and reports failures and successes to `outages`. What callers do
 * wrong, such as an upload that breaks off, is no failure.
 */
export function watchBytes(bytes: FileBytes, { figures, outages }: Options): FileBytes {
  function fail(operation: BytesOperation, error: unknown): void {
    if (toHeraldError(error).status < 500) return;
    figures.failures[operation]++;
    outages.onError(error);
  }

  async function watched<Result>(operation: BytesOperation, work: Promise<Result>): Promise<Result> {
    try {
      const result = await work;
      outages.onRecovery();
      return result;
    } catch (error) {
      fail(operation, error);
      throw error;
    }
  }

  function watchParts(stored: StoredBytes): StoredBytes {
    return {
      ...stored,
      part(start, end) {
        const pieces = stored.part(start, end);
        return pieces instanceof Blob ? pieces : watchStream(pieces, (error) => fail("read", error));
      },
    };
  }

  return {
    write: (id, pieces) => watched("write", bytes.write(id, pieces)),
    async read(id) {
      const stored = await watched("read", bytes.read(id));
      return stored && watchParts(stored);
    },
    remove: (id) => watched("remove", bytes.remove(id)),
  };
}

/** Passes a stream on as it is, piece by piece as they are wanted, and tells the error that ends it. */
function watchStream(stream: ReadableStream<Uint8Array>, onError: (error: unknown) => void) {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onError(error);
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
