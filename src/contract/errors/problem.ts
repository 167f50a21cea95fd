import { z } from "zod";
import { answerHeaders } from "../answer-headers.ts";
import { withoutCredentials } from "../keys/redaction.ts";
import { type ErrorCode, errorCatalogue, type HeraldError } from "./errors.ts";

const codes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]];

/** `application/problem+json` (RFC 9457). `errors` is present on 422 only. */
export const problemSchema = z
  .strictObject({
    type: z
      .string()
      .meta({ description: "The page that explains this error.", examples: ["/docs/errors#message_id_conflict"] }),
    title: z.string().meta({ description: "A short summary of the error, the same for every occurrence." }),
    status: z.int().meta({ description: "The HTTP status." }),
    detail: z.string().meta({ description: "What went wrong this time, and what to do next." }),
    code: z.enum(codes).meta({ description: "The error code, for programs to act on." }),
    request_id: z.string().meta({ description: "The id of the request, as in `X-Request-Id`." }),
    errors: z
      .array(
        z.strictObject({
          pointer: z.string().meta({ description: "A JSON Pointer (RFC 6901) to the invalid value." }),
          detail: z.string().meta({ description: "What is wrong with it." }),
        }),
      )
      .optional()
      .meta({ description: "The invalid values in the request. Present on 422 only." }),
    length: z.int().nonnegative().optional().meta({
      description: "How long the message is, in Unicode code points. Present with `append_conflict` only.",
    }),
  })
  .meta({ id: "Problem", description: "An error (RFC 9457)." });

/** The body of an error. */
export type Problem = z.infer<typeof problemSchema>;

/** How a node shows its errors: `redact` takes credentials out of a text; `basePath` is the path below which it is reached. */
export type ProblemForm = { redact?: ((text: string) => string) | undefined; basePath?: string | undefined };

/** The problem document of an error, in which nothing is left that `redact` takes for a credential. */
export function problemDocument(
  error: HeraldError,
  requestId: string,
  { redact = withoutCredentials, basePath = "" }: ProblemForm = {},
): Problem {
  const { status, title } = errorCatalogue[error.code];
  const errors = error.fields.map((field) => ({ ...field, pointer: redact(field.pointer) }));
  const fields = status === 422 ? { errors } : {};
  return {
    type: `${basePath}/docs/errors#${error.code}`,
    title,
    status,
    detail: redact(error.message),
    code: error.code,
    request_id: requestId,
    ...fields,
    ...(error.length !== undefined && { length: error.length }),
  };
}

/** The response for an error, which the log of requests asks for its code. */
type ProblemResponse = Response & { readonly code: ErrorCode };

/** The code of a response that is an error; `undefined` for any other. */
export function codeOf(response: Response | undefined): string | undefined {
  return response !== undefined && "code" in response ? String(response.code) : undefined;
}

/** The HTTP response for an error, with its headers and `X-Request-Id`. */
export function problemResponse(
  error: HeraldError,
  requestId: string,
  redact?: ProblemForm["redact"],
): ProblemResponse {
  const text = JSON.stringify(problemDocument(error, requestId, { redact }));
  const response = new Response(text, {
    status: error.status,
    headers: {
      "Content-Length": String(Buffer.byteLength(text)), // which HEAD has, too, but for which the router drops the body
      "Content-Type": "application/problem+json",
      "X-Request-Id": requestId,
      ...answerHeaders,
      ...error.headers,
    },
  });
  return Object.assign(response, { code: error.code });
}
