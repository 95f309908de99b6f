// As the Worker with instant storage, but KV knows every event: nothing is left but verification and one question.

import { entry } from "./instant.js";

export * from "../../../edge-receiver/dist/worker.js";

export default entry("1788264000000");
