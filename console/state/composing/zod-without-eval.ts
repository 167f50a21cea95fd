import { z } from "zod";

// Zod compiles schemas with `new Function` where possible. The Content-Security-Policy forbids that here, and each attempt logs an
// error in the browser. Import this before the schemas, which decide when they are created.
z.config({ jitless: true });
