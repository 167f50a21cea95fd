import { type HeraldError, toHeraldError } from "../../contract/errors/errors.ts";

/**
 * Turns anything thrown into the error that the client is told. Anything but a `HeraldError` is a bug or a failure of
 * ours and goes to `onError`.
 */
export function tellFault(thrown: unknown, onError: (error: unknown) => void): HeraldError {
  const error = toHeraldError(thrown);
  if (error.code === "internal") onError(thrown);
  return error;
}
