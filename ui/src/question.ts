import "./style/tokens.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/json.css";
import "./style/question.css";

import { mount } from "svelte";

import QuestionWindow from "./views/QuestionWindow.svelte";

mount(QuestionWindow, { target: document.getElementById("window")! });
