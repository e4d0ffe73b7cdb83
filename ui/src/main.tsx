/** Where the page begins. */

import { render } from "preact";
import { App } from "./app";
import { keepTheme } from "./frame/theme";
import "./style/page.css";

keepTheme();
const place = document.getElementById("page");
if (place) render(<App />, place);
