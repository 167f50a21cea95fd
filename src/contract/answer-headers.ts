/** Headers of every response that is not a page. They prevent caching and content sniffing. */
export const answerHeaders = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" } as const;
