/**
 * A body of texts, each taken once the socket has taken the one before. `texts` ends when the caller hangs up, unless it
 * is waiting for something then: it ends after that.
 */
export function streamOf(texts: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await texts.next();
        if (done) controller.close();
        else controller.enqueue(Buffer.from(value));
      },
      async cancel() {
        await texts.return();
      },
    },
    { highWaterMark: 0 },
  );
}
