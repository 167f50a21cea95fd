import { useState } from "preact/hooks";
import { type FieldError, HeraldApiError } from "../../../sdk/errors.ts";
import { useAction } from "../../state/loading.ts";
import { focusFirstMistake } from "./focus-first-mistake.ts";

/** A mistake that the console finds itself, with calls to the API. It stands at its field. */
class FieldMistake extends Error {
  readonly errors: readonly FieldError[];

  constructor(mistake: FieldError) {
    super(mistake.detail);
    this.errors = [mistake];
  }
}

/** Rejects if `read` finds something. A `PUT` would change what has the same id, which no form for a new one may do. */
export async function requireNew(read: Promise<unknown>, mistake: FieldError): Promise<void> {
  try {
    await read;
  } catch (error) {
    if (error instanceof HeraldApiError && error.status === 404) return;
    throw error;
  }
  throw new FieldMistake(mistake);
}

type Inputs<Pointer extends string> = {
  /** The JSON Pointers of what has a field in the form. */
  pointers: readonly Pointer[];
  /** What is missing or mistyped. It is shown after the first try, and nothing is sent. */
  mistakes: Partial<Record<Pointer, string>>;
  act: () => Promise<void>;
};

/** A form that calls the API: one call at a time, and each mistake stands at its field. */
export type Form<Pointer extends string> = {
  isBusy: boolean;
  /** What has failed, unless the fields say all of it. */
  error: unknown;
  /** Whether the fields say what is wrong with them. */
  isToldAtFields: boolean;
  errorOf: (pointer: Pointer) => string | undefined;
  submit: (event: Event) => void;
};

/** Keeps what became of a form. */
export function useForm<Pointer extends string>({ pointers, mistakes, act }: Inputs<Pointer>): Form<Pointer> {
  const [wasTried, setWasTried] = useState(false);
  const { isBusy, error, run } = useAction(async () => {
    try {
      await act();
      setWasTried(false);
    } catch (error) {
      if (errorsOf(error).length > 0) focusFirstMistake();
      throw error;
    }
  });
  const errors = errorsOf(error);
  return {
    isBusy,
    error: error instanceof FieldMistake ? undefined : error,
    isToldAtFields:
      errors.length > 0 && errors.every(({ pointer }) => pointers.some((start) => pointer.startsWith(start))),
    errorOf: (pointer) =>
      (wasTried ? mistakes[pointer] : undefined) ?? errors.find((one) => one.pointer.startsWith(pointer))?.detail,
    submit(event) {
      event.preventDefault();
      setWasTried(true);
      if (Object.keys(mistakes).length === 0) run();
      else focusFirstMistake();
    },
  };
}

function errorsOf(error: unknown): readonly FieldError[] {
  return error instanceof HeraldApiError || error instanceof FieldMistake ? error.errors : [];
}
