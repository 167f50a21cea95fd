/** On every answer that is not a page: it is kept in no cache, and a browser takes it for nothing but its type. */
export const answerHeaders = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" } as const;
