/** Where the page begins. */

import { render } from "preact";
import { App } from "./app";
import { keepLooking } from "./approvals/waiting";
import { keepCounting } from "./channels/unread";
import { keepTheme } from "./frame/theme";
import "./style/page.css";

keepTheme();
keepLooking();
keepCounting();
const place = document.getElementById("page");
if (place) render(<App />, place);
