import { HeraldApiError, HeraldArgumentError } from "../../sdk/errors.ts";
import { type ErrorCode, errorCatalogue } from "../../src/contract/errors/errors.ts";
import { findingIn } from "../../src/contract/errors/naming.ts";
import { basePath } from "../state/server.ts";
import { Prose } from "./prose.tsx";

/** An explanation of a failure: what happened, what to do, and how to find it in the server's log. */
export type Explanation = {
  title: string;
  detail: string;
  advice: string | undefined;
  code: string | undefined;
  requestId: string | undefined;
};

/** Explains an error that a call to the API threw. */
export function explain(error: unknown): Explanation {
  if (error instanceof HeraldApiError) {
    const { code, detail, requestId, status } = error;
    if (code === "unreachable") {
      const advice = "Check that the server is running and reachable from this computer, then try again.";
      return { title: "Herald does not respond", detail, advice, code: undefined, requestId };
    }
    if (code === "not_herald") {
      const advice =
        "Check the proxy between this browser and Herald, and that Herald is running behind it, then try again.";
      return { title: "Something other than Herald answered", detail, advice, code: undefined, requestId };
    }
    const entry = Object.hasOwn(errorCatalogue, code) ? errorCatalogue[code as ErrorCode] : undefined;
    const advice = entry?.advice === detail ? undefined : entry?.advice;
    const title = entry?.title ?? `The server responded with ${status}`;
    return { title, detail: findingIn({ code, detail }), advice, code, requestId };
  }
  const title = error instanceof HeraldArgumentError ? "This cannot be sent" : "An error occurred in the console";
  const detail = error instanceof Error ? error.message : String(error);
  return { title, detail, advice: undefined, code: undefined, requestId: undefined };
}

type Props = {
  error: unknown;
  retry?: (() => void) | undefined;
  /** What failed, where the page does not show it. */
  what?: string | undefined;
  /** Whether the form says at its fields what is wrong with them, so that it is not said again. */
  isToldAtFields?: boolean;
};

/** A failure and what to do about it. Screen readers announce it. `retry` repeats a call that only reads. */
export function Problem({ error, retry, what, isToldAtFields = false }: Props) {
  const { title, detail, advice: generalAdvice, code, requestId } = explain(error);
  const isTemporary = error instanceof HeraldApiError && error.status >= 500 && code !== undefined;
  const advice = retry !== undefined && isTemporary ? "Nothing was changed. Try again in a moment." : generalAdvice;
  return (
    <div class="notice bad" role="alert">
      <p class="notice-title">{what === undefined ? title : `${what}: ${title}`}</p>
      {!isToldAtFields && (
        <p>
          <Prose text={detail} />
        </p>
      )}
      {advice !== undefined && (
        <p>
          <Prose text={advice} />
        </p>
      )}
      {(code !== undefined || requestId !== undefined) && (
        <p class="fine">
          {code !== undefined && (
            <>
              Code {Object.hasOwn(errorCatalogue, code) ? <a href={`${basePath}/docs/errors#${code}`}>{code}</a> : code}
            </>
          )}
          {code !== undefined && requestId !== undefined && " · "}
          {requestId !== undefined && (
            <>
              Request <code>{requestId}</code>
            </>
          )}
        </p>
      )}
      {retry !== undefined && (
        <button type="button" class="small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
