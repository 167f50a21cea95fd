import { z } from "zod";

// Zod compiles schemas with `new Function` where it may. Here the Content-Security-Policy forbids it, and each try is an error in the
// browser's log. To be imported before the schemas: they decide when they are made.
z.config({ jitless: true });
