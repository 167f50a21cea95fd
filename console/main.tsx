import { render } from "preact";

const app = document.getElementById("app");
if (app !== null) render(<h1>Herald console</h1>, app);
