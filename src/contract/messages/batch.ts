import { z } from "zod";
import { dryRunResponse, sendQuery } from "../delivery.ts";
import { problemSchema } from "../errors/problem.ts";
import { sendMessageResponse, sendSystemMessageResponse } from "./messages.ts";

const fastest = 1_000_000;

/** The query of a batch. */
export const batchQuery = sendQuery.extend({
  rate: z
    .string()
    .regex(/^[1-9]\d{0,6}$/, `must be an integer from 1 to ${fastest}`)
    .transform(Number)
    .refine((rate) => rate <= fastest, `must be an integer from 1 to ${fastest}`)
    .optional()
    .meta({
      type: "integer",
      minimum: 1,
      maximum: fastest,
      pattern: undefined,
      description: "Sends at most so many lines per second. Without it, as fast as the limits allow.",
    }),
});

const line = z.int().min(1).meta({ description: "The number of the line." });
const replayed = z
  .literal(true)
  .optional()
  .meta({ description: "The id was used before, and this is the original response." });

/** A line of the response to a batch: the response to a line of the request, or why the batch ended early. */
export const batchAnswer = z
  .union([
    z
      .strictObject({ line, status: z.literal(201), ...sendMessageResponse.shape, replayed })
      .meta({ id: "BatchMessageAnswer", description: "A message that is stored." }),
    z
      .strictObject({ line, status: z.literal(201), ...sendSystemMessageResponse.shape, replayed })
      .meta({ id: "BatchSystemMessageAnswer", description: "A system message that is stored." }),
    z
      .strictObject({ line, status: z.literal(200), ...dryRunResponse.shape, replayed })
      .meta({ id: "BatchDryRunAnswer", description: "With `dry_run=true`: a valid line, and whom it would reach." }),
    z
      .strictObject({
        line,
        status: z.int().meta({ description: "The HTTP status of the problem." }),
        problem: problemSchema,
      })
      .meta({ id: "BatchProblem", description: "A line that was refused. The others are sent." }),
    z
      .strictObject({
        done: z.literal(false),
        line: z.int().min(1).meta({
          description: "The first line without an answer. Its outcome, and that of the lines after it, is unknown.",
        }),
        problem: problemSchema,
      })
      .meta({
        id: "BatchEnd",
        description: "The last line, only if the batch ended early. Send all lines again, with the same ids.",
      }),
  ])
  .meta({ id: "BatchAnswer", description: "One line for each line of the request, in order." });

/** A line of the response to a batch. */
export type BatchAnswer = z.infer<typeof batchAnswer>;
