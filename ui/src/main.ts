import "./style/tokens.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/json.css";
import "./style/question.css";
import "./style/frame.css";
import "./style/pages.css";

import { mount } from "svelte";

import App from "./views/App.svelte";

mount(App, { target: document.getElementById("window")! });
