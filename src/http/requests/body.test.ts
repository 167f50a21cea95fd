import { expect, test } from "bun:test";
import { HeraldError } from "../../contract/errors/errors.ts";
import { bytesOfBody, createBytesReader } from "./body.ts";

const maxBytes = 200_000;
const piece = new Uint8Array(65_536).fill(0x20);

/** Reads a body without an end whose `Content-Length` is as given, and returns the error and what was taken of it. */
async function read(declared: string | undefined) {
  let taken = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        taken += piece.length;
        controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
  const name = declared === undefined ? "Transfer-Encoding" : "Content-Length";
  const headers = new Headers({ [name]: declared ?? "chunked" });
  const charged: number[] = [];
  const readBytes = createBytesReader({
    maxBytes,
    onLength: (lengths: number[], bytes) => lengths.push(bytes),
    turn: () => undefined,
  });
  const request = new Request("http://localhost", { method: "POST", headers, body });
  const reading = async () => await readBytes(request, bytesOfBody(headers), charged);
  const error = await reading().catch((thrown: unknown) => thrown);
  return { error, taken, charged };
}

test.each([undefined, "5, 5", "", "NaN", "Infinity", "-1", "0x10", "1e3", "5;5"])(
  "a body is read up to the limit and not beyond, if its length is declared as %p",
  async (declared) => {
    const { error, taken, charged } = await read(declared);
    expect(error).toBeInstanceOf(HeraldError);
    expect(error).toMatchObject({ code: "payload_too_large" });
    expect(taken).toBeGreaterThan(maxBytes);
    expect(taken).toBeLessThanOrEqual(maxBytes + 2 * piece.length);
    expect(charged).toHaveLength(1);
    expect(charged.every(Number.isFinite)).toBe(true);
  },
);

test.each(["200001", "99999999999999999999"])("nothing is read of a body that declares %s bytes", async (declared) => {
  const { error, taken, charged } = await read(declared);
  expect(error).toMatchObject({ code: "payload_too_large" });
  expect({ taken, charged }).toEqual({ taken: 0, charged: [] });
});
