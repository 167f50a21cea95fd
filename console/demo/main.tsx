import { render } from "preact";

const app = document.getElementById("app");
if (app !== null) render(<h1>Herald demo</h1>, app);
