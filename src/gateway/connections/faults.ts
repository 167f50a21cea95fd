import { type HeraldError, toHeraldError } from "../../contract/errors/errors.ts";

/** What a client may be told of anything thrown. Anything but a `HeraldError` is a fault of ours: `onError` is told its cause. */
export function tellFault(thrown: unknown, onError: (error: unknown) => void): HeraldError {
  const error = toHeraldError(thrown);
  if (error.code === "internal") onError(thrown);
  return error;
}
