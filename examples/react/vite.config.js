import { createAdmin } from "@herald/sdk/admin";
import { defineConfig } from "vite";

const {
  HERALD_URL: url = "http://127.0.0.1:7070",
  HERALD_ADMIN_API_KEY: key = "",
  HERALD_ORG: org = "demo",
} = process.env;

/** Stands in for your backend, which knows who has signed in and issues a token for that user. The API key never leaves it. */
const listen = ({ middlewares }) => void middlewares.use("/token", answer);
const backend = { name: "backend", configureServer: listen, configurePreviewServer: listen };

async function answer(request, response) {
  const uid = new URL(request.url ?? "", "http://localhost").searchParams.get("user") ?? "";
  try {
    const { token } = await createAdmin({ url, key }).createToken(org, uid);
    response.end(JSON.stringify({ url, token }));
  } catch (error) {
    response.statusCode = 502;
    response.end(JSON.stringify({ error: String(error) }));
  }
}

export default defineConfig({ plugins: [backend], envPrefix: "HERALD_URL", oxc: { jsx: { runtime: "automatic" } } });
