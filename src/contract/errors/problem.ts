import { z } from "zod";
import { answerHeaders } from "../answer-headers.ts";
import { withoutCredentials } from "../keys/redaction.ts";
import { type ErrorCode, errorCatalogue, type HeraldError } from "./errors.ts";

const codes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]];

/** `application/problem+json` (RFC 9457). `errors` is there on 422 only. */
export const problemSchema = z
  .strictObject({
    type: z
      .string()
      .meta({ description: "Where this error is explained.", examples: ["/docs/errors#message_id_conflict"] }),
    title: z.string().meta({ description: "The error in a few words; the same for every occurrence." }),
    status: z.int().meta({ description: "The HTTP status." }),
    detail: z.string().meta({ description: "What happened and what to do next." }),
    code: z.enum(codes).meta({ description: "The error, for programs." }),
    request_id: z.string().meta({ description: "The same as in `X-Request-Id`." }),
    errors: z
      .array(
        z.strictObject({
          pointer: z.string().meta({ description: "A JSON Pointer (RFC 6901) to the place." }),
          detail: z.string().meta({ description: "What is wrong there." }),
        }),
      )
      .optional()
      .meta({ description: "On 422 only: each place that does not fit." }),
  })
  .meta({ id: "Problem", description: "An error (RFC 9457)." });

/** The body of an error. */
export type Problem = z.infer<typeof problemSchema>;

/** The problem document of an error. */
export function problemDocument(error: HeraldError, requestId: string): Problem {
  const { status, title } = errorCatalogue[error.code];
  const errors = error.fields.map((field) => ({ ...field, pointer: withoutCredentials(field.pointer) }));
  const fields = status === 422 ? { errors } : {};
  return {
    type: `/docs/errors#${error.code}`,
    title,
    status,
    detail: withoutCredentials(error.message),
    code: error.code,
    request_id: requestId,
    ...fields,
  };
}

/** The HTTP answer for an error, with its headers and `X-Request-Id`. */
export function problemResponse(error: HeraldError, requestId: string): Response {
  return new Response(JSON.stringify(problemDocument(error, requestId)), {
    status: error.status,
    headers: {
      "Content-Type": "application/problem+json",
      "X-Request-Id": requestId,
      ...answerHeaders,
      ...error.headers,
    },
  });
}
