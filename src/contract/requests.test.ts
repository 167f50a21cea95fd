import { expect, test } from "bun:test";
import { z } from "zod";
import { HeraldError } from "./errors/errors.ts";
import { validate } from "./requests.ts";

const either = z.strictObject({
  request: z.union([
    z.strictObject({ from: z.string(), message: z.strictObject({ body: z.string() }) }),
    z.strictObject({ from: z.string(), notice: z.strictObject({ uids: z.array(z.string()) }) }),
  ]),
});

function pointersOf(value: unknown): string[] {
  try {
    validate(either, value);
    return [];
  } catch (error) {
    if (error instanceof HeraldError) return error.fields.map(({ pointer }) => pointer);
    throw error;
  }
}

test.each<[value: object, pointers: string[]]>([
  [{ request: { from: "a", message: { body: 1 } } }, ["/request/message/body"]],
  [{ request: { from: "a", notice: { uids: ["a", 2, 3] } } }, ["/request/notice/uids/1", "/request/notice/uids/2"]],
  [{ request: { from: 1, notice: { uids: [], x: 1 } } }, ["/request/from", "/request/notice/x"]],
  [{ request: { from: "a" } }, ["/request/message"]],
  [{ request: "a" }, ["/request"]],
  [{}, ["/request"]],
  [{ request: { from: "a", notice: { uids: [] } } }, []],
])("of a value that fits none of several shapes, the faults are those of the nearest: %j", (value, pointers) => {
  expect(pointersOf(value)).toEqual(pointers);
});
